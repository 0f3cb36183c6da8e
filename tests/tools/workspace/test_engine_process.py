"""The engine runs as a child, and a request to stop reaches it exactly once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tools.workspace.engine_process import EngineFailedError, PulumiCommand

# Written with os.write: a handler that runs inside `print` may not print.
ENGINE = """\
import os, signal, sys
def stop(number, frame):
    os.write(1, b"stopping once\\n")
    os._exit(8)
signal.signal(signal.SIGINT, stop)
os.write(1, b"working\\n")
while True:
    signal.pause()
"""
CALLER = """\
import sys
from pathlib import Path
from tools.workspace.engine_process import PulumiCommand
command = PulumiCommand(Path(sys.argv[1]), Path.cwd(), {"PATH": "/usr/bin:/bin"})
result = command.run(["up"])
print(result.exit_code, result.interrupted, flush=True)
"""


def executable(path: Path, program: str, interpreter: str = sys.executable) -> Path:
    path.write_text(f"#!{interpreter}\n{program}")
    path.chmod(0o755)
    return path


def command(path: Path) -> PulumiCommand:
    return PulumiCommand(path, path.parent, {"PATH": os.environ["PATH"]})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_stop_is_passed_on_as_one_interrupt(tmp_path: Path, number: int) -> None:
    engine = executable(tmp_path / "pulumi", ENGINE)
    caller = subprocess.Popen(
        [sys.executable, "-c", CALLER, str(engine)], stdout=subprocess.PIPE, text=True
    )
    assert caller.stdout is not None
    assert caller.stdout.readline() == "working\n"
    caller.send_signal(number)
    said, _ = caller.communicate(timeout=20)
    assert said.splitlines() == ["stopping once", "8 True"]


def test_the_exit_code_is_the_engines(tmp_path: Path) -> None:
    result = command(executable(tmp_path / "pulumi", "exit 3", "/bin/sh")).run(["up"])
    assert (result.exit_code, result.interrupted) == (3, False)


def test_an_engine_that_was_killed_counts_as_interrupted(tmp_path: Path) -> None:
    result = command(executable(tmp_path / "pulumi", "kill -9 $$", "/bin/sh")).run(["up"])
    assert result.interrupted


def test_an_answer_is_returned_without_what_is_said_beside_it(tmp_path: Path) -> None:
    engine = executable(tmp_path / "pulumi", "echo warning >&2; echo '{}'", "/bin/sh")
    assert command(engine).output(["stack", "output"]) == "{}\n"


def test_fails_with_the_last_words_of_a_command_that_failed(tmp_path: Path) -> None:
    engine = executable(tmp_path / "pulumi", "echo 'no stack' >&2; exit 6", "/bin/sh")
    with pytest.raises(EngineFailedError, match=r"`pulumi stack export` failed:\nno stack"):
        command(engine).output(["stack", "export"])

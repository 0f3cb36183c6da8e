"""The engine runs as a child, and a request to stop reaches it exactly once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.modules import PYTHONPATH
from tests.support.processes import PATIENCE, until
from trainyard.engine.engine_process import EngineFailedError, PulumiCommand

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
from trainyard.engine.engine_process import PulumiCommand
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


def _catches(pid: int, number: int) -> bool:
    """Return whether a process has a handler for a signal."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    (caught,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught, 16) >> (number - 1) & 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_stop_is_passed_on_as_one_interrupt(tmp_path: Path, number: int) -> None:
    engine = executable(tmp_path / "pulumi", ENGINE)
    caller = subprocess.Popen(
        [sys.executable, "-c", CALLER, str(engine)], stdout=subprocess.PIPE, text=True
    )
    assert caller.stdout is not None
    assert caller.stdout.readline() == "working\n"
    until(lambda: _catches(caller.pid, signal.SIGHUP), "the caller forwards signals")
    caller.send_signal(number)
    said, _ = caller.communicate(timeout=PATIENCE)
    assert said.splitlines() == ["stopping once", "8 True"]


def test_a_request_to_stop_that_arrives_while_the_engine_is_started_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program would otherwise end with it, and the engine would go on alone."""
    start = subprocess.Popen

    def interrupted_start(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        child = start(*arguments, **options)
        os.kill(os.getpid(), signal.SIGTERM)
        return child

    monkeypatch.setattr(subprocess, "Popen", interrupted_start)
    # A shell that has started another program would first wait for its end.
    engine = executable(tmp_path / "pulumi", "exec sleep 60", "/bin/sh")
    result = command(engine).run(["up"])
    assert (result.exit_code, result.interrupted) == (-signal.SIGINT, True)


def test_the_engine_ignores_hangups_and_its_caller_handles_them_as_before(tmp_path: Path) -> None:
    engine = executable(tmp_path / "pulumi", "kill -HUP $$; exit 3", "/bin/sh")
    before = signal.getsignal(signal.SIGHUP)
    assert command(engine).run(["up"]).exit_code == 3
    assert signal.getsignal(signal.SIGHUP) is before


SHELL = """\
import fcntl, os, signal, subprocess, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = subprocess.Popen(sys.argv[1:], process_group=0)
os.tcsetpgrp(0, job.pid)
def hang_up(number, frame):
    os.killpg(job.pid, signal.SIGHUP)
    os._exit(0)
signal.signal(signal.SIGHUP, hang_up)
job.wait()
"""
"""The action of a shell on its jobs when its terminal is closed."""
TELLING_ENGINE = """\
import os, signal
from pathlib import Path
def stop(number, frame):
    Path("ending").write_text(signal.Signals(number).name)
    Path("ending").rename("ended-by")
    os._exit(8)
signal.signal(signal.SIGINT, stop)
os.write(1, b"working\\n")
while True:
    signal.pause()
"""


def test_a_terminal_that_is_closed_interrupts_the_engine_and_does_not_kill_it(
    tmp_path: Path,
) -> None:
    """When the shell ends, the kernel sends a hangup to the foreground group: the engine's."""
    engine = executable(tmp_path / "pulumi", TELLING_ENGINE)
    terminal, inside = os.openpty()
    shell = subprocess.Popen(
        [sys.executable, "-c", SHELL, sys.executable, "-c", CALLER, str(engine)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        stdin=inside,
        stdout=inside,
        stderr=inside,
        start_new_session=True,
    )
    os.close(inside)
    assert os.read(terminal, 1024).startswith(b"working")
    os.close(terminal)
    shell.wait(timeout=PATIENCE)
    said = tmp_path / "ended-by"
    until(said.exists, "the engine to be interrupted")
    assert said.read_text() == "SIGINT"


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

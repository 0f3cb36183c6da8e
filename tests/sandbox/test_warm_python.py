"""A warm Python behaves like a plain one, except that its packages are imported already."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import until
from tests.support.warm_python import CLIENT, VARIABLE, warm

PROGRAM = """\
import os, signal, sys
print(sys.argv, sys.orig_argv[1:], os.getcwd(), os.environ.get("OWN"), sys.path[0], __name__)
print(os.getppid(), os.umask(0), sys.stdin.read(), signal.getsignal(signal.SIGHUP))
for stream in (sys.stdin, sys.stdout, sys.stderr):
    settings = stream.encoding, stream.errors, stream.line_buffering, stream.write_through
    print(settings, file=sys.stderr)
"""
MODULE = f"{PROGRAM}print(__spec__.name, __file__)\n"
WAITS = """\
import os, signal, sys
print(os.getpid(), flush=True)
signal.pause()
"""
ANSWERS = f"import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n{WAITS}"
IGNORES = """\
import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
print(os.getpid(), flush=True)
signal.sigwait({signal.SIGUSR1})
print("still there")
"""
ORPHAN = """\
import os, time
parent = os.getppid()
print(os.getpid(), flush=True)
while os.getppid() == parent:
    time.sleep(0.01)
"""
PLAIN = {**os.environ, "OWN": "value"}


@pytest.fixture(scope="module")
def warm_environment() -> dict[str, str]:
    return warm(PLAIN)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory with a module and a script."""
    (tmp_path / "module.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "script.py").write_text(f"{PROGRAM}print(__file__)", encoding="utf-8")
    return tmp_path


def outcome(arguments: list[str], environment: dict[str, str], folder: Path) -> tuple[object, ...]:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        input="input",
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@contextlib.contextmanager
def started(code: str, environment: dict[str, str]) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Start a program that prints its id and waits; yield it with that id."""
    with subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process, int(process.stdout.readline())


def is_gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["-c", PROGRAM, "an", "argument"], id="text"),
        pytest.param(["-u", "-P", "-c", PROGRAM], id="unbuffered"),
        pytest.param(["-m", "module", "-m", "more"], id="module"),
        pytest.param(["scripts/script.py", "-c"], id="script"),
        pytest.param(["-P", "scripts/script.py"], id="script without its directory"),
        pytest.param(["-I", "-c", PROGRAM], id="isolated"),
        pytest.param(["-X", "utf8", "-c", PROGRAM], id="another setting"),
        pytest.param(["-m", "no_such_module"], id="no module"),
        pytest.param(["-c", "import sys; sys.exit()"], id="no exit code"),
        pytest.param(["-c", "import sys; sys.exit(300)"], id="exit code"),
        pytest.param(["-c", "import sys; sys.exit('why')"], id="exit with a message"),
        pytest.param(["-c", "import os; os.kill(os.getpid(), 9)"], id="killed"),
        pytest.param(["-c", "import os; os._exit(3)"], id="ended at once"),
        pytest.param(["-c", "import atexit; atexit.register(print, 'end')"], id="at exit"),
        pytest.param(["-c", "1 / 0"], id="exception"),
    ],
)
def test_a_program_sees_and_says_the_same(
    arguments: list[str], folder: Path, warm_environment: dict[str, str]
) -> None:
    plain = outcome(arguments, {**PLAIN, "PYTHONPATH": ""}, folder)
    assert outcome(arguments, {**warm_environment, "PYTHONPATH": str(CLIENT)}, folder) == plain


def test_the_packages_are_there_already(folder: Path, warm_environment: dict[str, str]) -> None:
    code = "import sys; print('pulumi_aws' in sys.modules)"
    assert outcome(["-c", code], warm_environment, folder)[1] == f"{VARIABLE in warm_environment}\n"
    assert outcome(["-c", code], PLAIN, folder)[1] == "False\n"


@contextlib.contextmanager
def not_ignored(number: signal.Signals) -> Iterator[None]:
    """Let a process that starts now not ignore a signal that `nohup` or a shell ignores."""
    before = signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(number, before)


def test_a_program_answers_a_signal(warm_environment: dict[str, str]) -> None:
    with started(ANSWERS, warm_environment) as (process, _):
        process.terminate()
        assert process.wait() == 7


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_program_that_does_not_answer(
    number: signal.Signals, warm_environment: dict[str, str]
) -> None:
    with not_ignored(number), started(WAITS, warm_environment) as (process, program):
        process.send_signal(number)
        assert process.wait() == -number
        assert is_gone(program)


def test_an_ignored_signal_stays_ignored(warm_environment: dict[str, str]) -> None:
    code = f"signal.signal(signal.SIGHUP, signal.SIG_IGN)\nrun([sys.executable, '-c', {IGNORES!r}])"
    imports = "import signal, sys\nfrom subprocess import run\n"
    with started(f"{imports}{code}", warm_environment) as (process, program):
        os.kill(program, signal.SIGHUP)
        os.kill(program, signal.SIGUSR1)
        assert process.stdout is not None
        assert process.stdout.readline() == "still there\n"


def test_a_program_ends_with_the_process_that_was_killed(warm_environment: dict[str, str]) -> None:
    with started(WAITS, warm_environment) as (process, program):
        process.kill()
        process.wait()
        until(lambda: is_gone(program), "the program to end")


def test_a_program_learns_that_its_parent_has_ended(warm_environment: dict[str, str]) -> None:
    """Like the plugins of the sandbox, which end with their engine."""
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {ORPHAN!r}])"
    with started(parent, warm_environment) as (process, program):
        process.kill()
        process.wait()
        until(lambda: is_gone(program), "the program to end")


def test_a_process_that_was_killed_before_it_could_ask_blocks_no_other(
    folder: Path, warm_environment: dict[str, str]
) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(warm_environment[VARIABLE])
        client.sendall((100).to_bytes(8, "little") + b"a part")
    assert outcome(["-c", "print('ran')"], warm_environment, folder) == (0, "ran\n", "")


def test_without_its_server_it_fails_aloud(tmp_path: Path) -> None:
    environment = {**PLAIN, VARIABLE: str(tmp_path / "none"), "PYTHONPATH": str(CLIENT)}
    code, said, why = outcome(["-c", "print('ran')"], environment, tmp_path)
    assert (code, said) == (1, "")
    assert "the warm Python of the tests has ended" in str(why)

"""Makes the locked Python environment in ``.venv``; run by the launcher before there is one.

It runs on whatever Python 3.11+ the launcher finds, so it uses the standard library only:
``python -I tools/environment.py requirements.txt`` (or ``requirements/dev.txt``).

The environment is what the lock says when ``.venv/trainyard/<lock>`` is a copy of the lock. The
copy is removed first and written last, so that an interrupted installation is begun again, and the
launcher only has to compare two files.
"""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ("requirements.txt", "requirements/dev.txt")
"""The locks, each of them part of the next."""

UV_MINIMUM_VERSION = (0, 5, 0)
"""Oldest uv that is used from the PATH: it reads universal locks and checks their hashes."""

USUALLY = "half a minute, two on a slow network"
HEARTBEAT_SECONDS = 30.0


class SetupError(Exception):
    """The environment cannot be made; the message says why and what to do."""


def main(arguments: Sequence[str]) -> int:
    """Make the environment of the lock that is named. Return the exit code."""
    (lock,) = arguments
    try:
        with _only_one():
            if not is_current(lock):
                _make(lock)
    except SetupError as error:
        say(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        say("interrupted; the next run goes on from here")
        return 130
    return 0


def say(message: str) -> None:
    """Show a line of progress; standard output belongs to the command that follows."""
    sys.stderr.write(f"trainyard: {message}\n")
    sys.stderr.flush()


def stamp(lock: str) -> Path:
    """Return where the copy of a lock says that the environment has it."""
    return ROOT / ".venv" / "trainyard" / lock


def python() -> Path:
    """Return the interpreter of the environment."""
    return ROOT / ".venv" / "bin" / "python"


def is_current(lock: str) -> bool:
    """Return whether the environment exists and has everything in ``lock``."""
    try:
        same = stamp(lock).read_bytes() == (ROOT / lock).read_bytes()
    except FileNotFoundError:
        return False
    return same and os.access(python(), os.X_OK)


@contextlib.contextmanager
def _only_one() -> Iterator[None]:
    """Let one process at a time change the environment; the others wait.

    The lock is the operating system's, so a killed process leaves none behind.
    """
    directory = ROOT / ".trainyard"
    try:
        directory.mkdir(exist_ok=True)
        file = (directory / "environment.lock").open("w")
    except OSError as error:
        raise SetupError(
            f"the environment goes into {ROOT}, which cannot be written ({error}); "
            "make it writable, or use a copy of the repository that is"
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another trainyard is setting up the environment: waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make(lock: str) -> None:
    started = time.monotonic()
    say(f"setting up the Python environment in .venv (usually {USUALLY})")
    for name in LOCKS:
        stamp(name).unlink(missing_ok=True)
    uv = _uv_on_path()
    if not _is_usable():
        _create(uv)
    command = [*(uv or _own_uv()), "pip", "sync", "--require-hashes", f"--python={python()}", lock]
    run(command, "installing the locked packages")
    for name in LOCKS[: LOCKS.index(lock) + 1]:
        stamp(name).parent.mkdir(parents=True, exist_ok=True)
        partial = stamp(f"{name}.partial")
        shutil.copyfile(ROOT / name, partial)
        partial.replace(stamp(name))
    say(f"the Python environment is ready ({time.monotonic() - started:.0f} s)")


def _is_usable() -> bool:
    """Return whether ``.venv`` is an environment of this very version of Python."""
    probe = "import sys; print(sys.version_info[:2], sys.prefix != sys.base_prefix)"
    try:
        answer = subprocess.run(
            [python(), "-I", "-c", probe], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return answer.stdout.strip() == f"{sys.version_info[:2]} True"


def _create(uv: Sequence[str] | None) -> None:
    directory = ROOT / ".venv"
    if directory.exists() and not (directory / "pyvenv.cfg").exists() and any(directory.iterdir()):
        raise SetupError(
            f"{directory} is in the way: it is not a Python environment; move it elsewhere"
        )
    shutil.rmtree(directory, ignore_errors=True)
    # The path without links: it names the version, so that the environment ends visibly when
    # that version is removed, instead of running with another one.
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    if uv is not None:
        run([*uv, "venv", "--quiet", f"--python={base}", str(directory)], "making .venv")
        return
    run(
        [str(base), "-m", "venv", str(directory)],
        "making .venv",
        hint="install uv (https://docs.astral.sh/uv/), or the part of your Python that makes "
        "environments (on Debian and Ubuntu: python3-venv)",
    )


def uv() -> list[str]:
    """Return the command of uv: the user's, else one of our own, got now if need be.

    Raises:
        SetupError: there is none, and it cannot be got.
    """
    on_path = _uv_on_path()
    if on_path is not None:
        return on_path
    with _only_one():
        return _own_uv()


def _uv_on_path() -> list[str] | None:
    """Return the command of the user's uv, if it is there and new enough."""
    path = shutil.which("uv")
    if path is None:
        return None
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.match(r"uv (\d+)\.(\d+)\.(\d+)", answer.stdout)
    if found is None or tuple(int(part) for part in found.groups()) < UV_MINIMUM_VERSION:
        say(f"the uv at {path} is too old: using one of our own")
        return None
    return [path]


def _own_uv() -> list[str]:
    """Return the command of the pinned uv, installed below ``.trainyard`` with pip."""
    directory = ROOT / ".trainyard" / "uv"
    lock = ROOT / "tools" / "lock" / "uv.txt"
    binary = directory / "bin" / "uv"
    done = directory / lock.name
    if not (done.exists() and done.read_bytes() == lock.read_bytes() and binary.exists()):
        shutil.rmtree(directory, ignore_errors=True)
        if not _has_pip():
            shutil.rmtree(ROOT / ".venv", ignore_errors=True)
            _create(None)
        pip = [str(python()), "-I", "-m", "pip", "install", "--quiet", "--require-hashes"]
        pip += ["--disable-pip-version-check", "--no-deps", f"--target={directory}"]
        run([*pip, f"--requirement={lock}"], "fetching uv, which installs the packages")
        shutil.copyfile(lock, done)
    return [str(binary)]


def _has_pip() -> bool:
    """Return whether ``.venv`` brings pip; one that uv made does not."""
    command = [python(), "-I", "-m", "pip", "--version"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def run(
    command: Sequence[str], work: str, hint: str = "", heartbeat_seconds: float = HEARTBEAT_SECONDS
) -> None:
    """Run a command quietly; show what it said if it fails.

    It works in the root of the repository, so that the settings of another project, in which the
    user may be working, do not apply.

    Args:
        command: Program and arguments.
        work: What it does, for the lines of progress: ``installing the locked packages``.
        hint: What to do when it fails.
        heartbeat_seconds: Time between two lines of progress.

    Raises:
        SetupError: it failed; the message holds what it said.
    """
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    started = time.monotonic()
    while True:
        try:
            said, _ = process.communicate(timeout=heartbeat_seconds)
            break
        except subprocess.TimeoutExpired:
            say(f"{work}: {time.monotonic() - started:.0f} s so far")
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise SetupError(
            f"{work} failed:\n{said.strip()}\n"
            + (hint or "check that the package index can be reached, then run the command again")
        )


def _environment() -> dict[str, str]:
    """Return the user's environment without what would point uv or pip at another Python."""
    environment = dict(os.environ)
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PYTHON", "PYTHONHOME", "PYTHONPATH"):
        environment.pop(name, None)
    environment["UV_PYTHON_DOWNLOADS"] = "never"
    if not (environment.get("HOME") or environment.get("UV_CACHE_DIR")):
        environment["UV_CACHE_DIR"] = str(ROOT / ".trainyard" / "uv-cache")
    return environment


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

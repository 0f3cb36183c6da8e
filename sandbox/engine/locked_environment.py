"""Locked Python environments for packages that conflict with those of the program.

They are in the program cache, named after their lock and their Python. Checkouts of the same
version share them, and checkouts with another lock keep theirs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainyard.sandbox import MODULES
from trainyard.sandbox.engine import cache
from trainyard.sandbox.engine.errors import EngineError
from trainyard.sandbox.engine.platforms import this_platform
from trainyard.sandbox.engine.progress import Heartbeat, Progress

USUALLY = "half a minute, two on a slow network"
_POLL_SECONDS = 1.0
_UV_OF_A_CLONE = MODULES.parent / ".trainyard" / "uv" / "bin" / "uv"
"""The launcher of a clone installs it there if the PATH has none (`tools/environment.py`)."""


@dataclass(frozen=True, kw_only=True)
class LockedEnvironment(cache.Entry):
    """A Python environment in the cache; complete when it contains a copy of its lock."""

    files: tuple[str, ...] = ()
    lock: Path
    """The lock file that it is created from."""

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.directory / "bin" / "python"

    def complete(self) -> bool:
        """Return whether it matches the lock, and its Python still exists on this machine."""
        try:
            same = (self.directory / self.lock.name).read_bytes() == self.lock.read_bytes()
        except OSError:  # it does not exist, or there is no cache, which its creation reports
            return False
        return same and os.access(self.python, os.X_OK)


def locked_python(
    lock: Path, what: str, report: Progress, *, finish: Callable[[Path], None] | None = None
) -> Path:
    """Return the interpreter of the environment of a lock; create the environment if necessary.

    Start its programs as modules (`python -m …`), because scripts in its `bin` contain the path at
    which the environment was created.

    Args:
        lock: The lock file.
        what: What the environment is for, such as `ParallelCluster`; also its directory.
        report: Receives progress messages; not called if there is nothing to do.
        finish: Called with the directory when the packages are installed.

    Raises:
        EngineError: it does not exist and cannot be created; the message says why and what to do.
    """
    wanted = _wanted(lock, what)
    if not wanted.complete():
        with cache.filling(wanted, report) as directory:
            if directory is not None:
                _make(wanted, what, directory, report, finish)
    return wanted.python


def _wanted(lock: Path, what: str) -> LockedEnvironment:
    version = ".".join(map(str, sys.version_info[:3]))
    key = cache.content_key([lock])
    name = f"python-{version}-{this_platform().go_name}-{key}"
    return LockedEnvironment(
        directory=cache.cache_directory() / what.lower().replace(" ", "-") / name, lock=lock
    )


def _make(
    wanted: LockedEnvironment,
    what: str,
    directory: Path,
    report: Progress,
    finish: Callable[[Path], None] | None,
) -> None:
    """Create the environment in a directory that is renamed to `wanted.directory`."""
    work = Heartbeat(report, f"setting up the environment of {what}", USUALLY)
    base = str(Path(getattr(sys, "_base_executable", sys.executable)).resolve())
    python = directory / "bin" / "python"
    uv = shutil.which("uv") or shutil.which(_UV_OF_A_CLONE)
    if uv is not None:
        making = [uv, "venv", "--quiet", "--allow-existing", f"--python={base}", str(directory)]
        installing = [uv, "pip", "sync", "--require-hashes", f"--python={python}", str(wanted.lock)]
    else:
        making = [base, "-m", "venv", str(directory)]
        installing = [str(python), "-I", "-m", "pip", "install", "--quiet", "--require-hashes"]
        installing += ["--disable-pip-version-check", "--no-deps", f"--requirement={wanted.lock}"]
    hint = "install uv (https://docs.astral.sh/uv/), which needs nothing of Python"
    _run(making, f"{what} has no environment: making it failed", hint, work)
    hint = "check that the package index can be reached, then run the command again"
    _run(installing, f"{what} has no environment: installing it failed", hint, work)
    if finish is not None:
        finish(directory)
    shutil.copyfile(wanted.lock, directory / wanted.lock.name)
    work.done()


def _run(command: Sequence[str], failure: str, hint: str, work: Heartbeat) -> None:
    """Run a command quietly.

    Raises:
        EngineError: it failed; the message has what it printed, and the hint.
    """
    process = subprocess.Popen(
        command,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    try:
        while True:
            try:
                said, _ = process.communicate(timeout=_POLL_SECONDS)
                break
            except subprocess.TimeoutExpired:
                work.beat()
    except BaseException:
        process.kill()
        raise
    if process.returncode:
        raise EngineError(f"{failure}:\n{said.strip()}\n{hint}")


def _environment() -> dict[str, str]:
    """Return the environment of this process without what would name another Python."""
    names = {"VIRTUAL_ENV", "CONDA_PREFIX", "UV_PYTHON", "PYTHONHOME", "PYTHONPATH"}
    kept = {name: value for name, value in os.environ.items() if name not in names}
    return {**kept, "UV_PYTHON_DOWNLOADS": "never"}

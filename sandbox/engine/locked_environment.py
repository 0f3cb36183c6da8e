"""Locked Python environments for packages that conflict with those of the program.

They are in the program cache, named after their lock and their Python. Checkouts of the same
version share them, and checkouts with another lock keep theirs.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools import environment
from trainyard.sandbox.engine import cache
from trainyard.sandbox.engine.errors import EngineError
from trainyard.sandbox.engine.platforms import this_platform
from trainyard.sandbox.engine.progress import Heartbeat, Progress

USUALLY = "half a minute, two on a slow network"


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
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    python = directory / "bin" / "python"
    try:
        uv = environment.uv()
        environment.run(
            [*uv, "venv", "--quiet", "--allow-existing", f"--python={base}", str(directory)],
            f"making the environment of {what}",
        )
        environment.run(
            [*uv, "pip", "sync", "--require-hashes", f"--python={python}", str(wanted.lock)],
            f"installing {what}",
        )
    except environment.SetupError as error:
        raise EngineError(f"{what} has no environment: {error}") from error
    if finish is not None:
        finish(directory)
    shutil.copyfile(wanted.lock, directory / wanted.lock.name)
    work.done()

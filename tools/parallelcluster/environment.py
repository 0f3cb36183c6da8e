"""The locked environment of ParallelCluster, beside the program's: both pin what the other refuses.

It stands in the cache of programs, named after its lock and its Python, so that every checkout of
the same version shares it, and a lock that changes leaves the old one to the checkouts that use it.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from tools import environment
from tools.engine import cache
from tools.engine.errors import EngineError
from tools.engine.platforms import this_platform
from tools.engine.progress import Heartbeat, Progress
from tools.lock import PARALLELCLUSTER, ROOT

USUALLY = "half a minute, two on a slow network"


@dataclass(frozen=True, kw_only=True)
class LockedEnvironment(cache.Entry):
    """A Python environment in the cache; it is there when it holds a copy of its lock."""

    files: tuple[str, ...] = ()
    lock: Path
    """The lock that it has been made from."""

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.directory / "bin" / "python"

    def complete(self) -> bool:
        """Return whether it is what the lock says, and its Python is still on this machine."""
        try:
            same = (self.directory / self.lock.name).read_bytes() == self.lock.read_bytes()
        except OSError:  # not there; or there is no such cache, which who makes it will say
            return False
        return same and os.access(self.python, os.X_OK)


def parallelcluster_python(report: Progress) -> Path:
    """Return the interpreter that has `aws-parallelcluster` and `ministack`; makes it if need be.

    Start programs of it as modules (`python -m …`): scripts in its `bin` know the place where it
    was made, not the one where it stands.

    Args:
        report: Is told of the work; nothing is said where there is none.

    Raises:
        EngineError: it is not there and cannot be made; the message says why and what to do.
    """
    wanted = _wanted(ROOT / PARALLELCLUSTER.path)
    if not wanted.complete():
        with cache.filling(wanted, report) as directory:
            if directory is not None:
                _make(wanted, directory, report)
    return wanted.python


def _wanted(lock: Path) -> LockedEnvironment:
    version = ".".join(map(str, sys.version_info[:3]))
    key = cache.content_key([lock])
    name = f"python-{version}-{this_platform().go_name}-{key}"
    return LockedEnvironment(
        directory=cache.cache_directory() / "parallelcluster" / name, lock=lock
    )


def _make(wanted: LockedEnvironment, directory: Path, report: Progress) -> None:
    """Make the environment in a directory that becomes `wanted.directory`."""
    work = Heartbeat(report, "setting up the environment of ParallelCluster", USUALLY)
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    python = directory / "bin" / "python"
    try:
        uv = environment.uv()
        environment.run(
            [*uv, "venv", "--quiet", "--allow-existing", f"--python={base}", str(directory)],
            "making the environment of ParallelCluster",
        )
        environment.run(
            [*uv, "pip", "sync", "--require-hashes", f"--python={python}", str(wanted.lock)],
            "installing ParallelCluster",
        )
    except environment.SetupError as error:
        raise EngineError(f"ParallelCluster has no environment: {error}") from error
    shutil.copyfile(wanted.lock, directory / wanted.lock.name)
    work.done()

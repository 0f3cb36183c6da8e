"""What tests and the programs that they start may write: temporary directories, and caches.

Landlock of Linux holds a process and all that it starts to a list of directories; any other write
fails with "Permission denied". Where it is missing, the tests run without it.
https://docs.kernel.org/userspace-api/landlock.html
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from py_landlock import AccessFs, Landlock, LandlockError, get_abi_version
from py_landlock.abi import get_supported_fs

from tests.support.tracked import ROOT, tracked
from trainyard.sandbox.engine.cache import cache_directory

CACHES_OF_CHECKOUT = (".hypothesis", ".pytest_cache", ".ruff_cache")
SHARED_MEMORY = Path("/dev/shm")
KERNEL = ("/dev", "/proc")
"""Terminals, `/dev/null`, and settings of a process's own: no files are created here."""


def is_available() -> bool:
    """Return whether this system can deny writes."""
    if sys.platform != "linux":
        return False
    try:
        return get_abi_version() > 0
    except LandlockError:
        return False


def restrict(writable: Sequence[Path]) -> Path:
    """Let this process, and what it starts from now on, write only below these directories.

    It may also write to caches, and to a new directory for the temporary files of programs, which
    becomes `TMPDIR`. Its path is short, because that of a socket has at most 107 bytes
    (https://man7.org/linux/man-pages/man7/unix.7.html), and other users may enter it, as the
    daemon of MUNGE requires; those of pytest are neither.

    Returns:
        The new directory, which the caller removes.
    """
    place = Path(tempfile.gettempdir()) / f"tests-{os.getuid()}"
    place.mkdir(mode=0o711, exist_ok=True)
    if place.is_symlink() or place.stat().st_uid != os.getuid():
        raise PermissionError(f"{place} belongs to somebody else; remove it")
    temporary = Path(tempfile.mkdtemp(dir=place))
    temporary.chmod(0o711)
    os.environ["TMPDIR"] = str(temporary)
    tempfile.tempdir = None
    if is_available():
        _deny_other_writes([place, *writable, *_caches()])
    return temporary


def _caches() -> Iterator[Path]:
    """Yield directories with what is computed once, after creating them."""
    compiled = {ROOT / path.parent / "__pycache__" for path in tracked(".py")}
    own = (cache_directory(), *compiled, *(ROOT / each for each in CACHES_OF_CHECKOUT))
    for path in (*own, *_caches_of_go()):
        path.mkdir(parents=True, exist_ok=True)
        yield path


def _caches_of_go() -> list[Path]:
    """Return where Go keeps what it compiles and downloads; empty without Go."""
    go = shutil.which("go")
    if go is None:
        return []
    command = [go, "env", "GOCACHE", "GOMODCACHE"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [Path(line) for line in done.stdout.splitlines() if line]


def _deny_other_writes(writable: Sequence[Path]) -> None:
    everything = get_supported_fs(get_abi_version())
    reading = AccessFs.READ_FILE | AccessFs.READ_DIR | AccessFs.EXECUTE | AccessFs.IOCTL_DEV
    rules = Landlock(strict=False).allow_all_network().allow_all_scope()
    rules.add_path_rule("/", access=reading)
    rules.add_path_rule(*KERNEL, access=reading | AccessFs.WRITE_FILE)
    rules.add_path_rule(SHARED_MEMORY, *writable, access=everything)
    rules.apply()

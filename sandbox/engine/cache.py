"""The cache of programs: one directory per entry, which is either complete or missing."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainyard.sandbox.engine.errors import EngineError
from trainyard.sandbox.engine.progress import Progress


def cache_directory() -> Path:
    """Return the directory of the cache.

    ``$TRAINYARD_CACHE``, else ``$XDG_CACHE_HOME/trainyard``, else ``~/.cache/trainyard``. It may be
    a read-only copy from another machine of the same platform.

    Raises:
        EngineError: none of the variables, nor ``HOME``, is set, or the home directory does not
            exist: a cache that a typing error or a service account has made would be built anew.
    """
    explicit = os.environ.get("TRAINYARD_CACHE")
    if explicit:
        return Path(explicit).expanduser().absolute()
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base).absolute() / "trainyard"
    home = os.environ.get("HOME")
    if not home or not Path(home).is_dir():
        why = f"the home directory {home} does not exist" if home else "HOME is not set"
        raise EngineError(
            f"there is nowhere to keep the engine: {why}; set TRAINYARD_CACHE to a "
            "directory that outlives this shell"
        )
    return Path(home).absolute() / ".cache" / "trainyard"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A set of cached files."""

    directory: Path
    """Directory of the files."""
    files: tuple[str, ...]
    """Names of the required files."""

    def complete(self) -> bool:
        """Return whether every file exists, is not empty and is executable."""
        return all(
            path.is_file() and path.stat().st_size > 0 and os.access(path, os.X_OK)
            for path in (self.directory / name for name in self.files)
        )


@contextlib.contextmanager
def filling(entry: Entry, report: Progress) -> Iterator[Path | None]:
    """Yield a directory for the files of ``entry``, or ``None`` if they exist already.

    When the block ends without an exception, the directory becomes the entry atomically: other
    processes see the complete entry or none. Processes that need the same entry wait for each
    other; the operating system releases the lock when its process ends, for any reason.

    Raises:
        EngineError: the cache cannot be written.
    """
    try:
        entry.directory.parent.mkdir(parents=True, exist_ok=True)
        lock = (entry.directory.parent / f".{entry.directory.name}.lock").open("w")
    except OSError as error:
        raise EngineError(
            f"the cache cannot be written: {entry.directory.parent} ({error.strerror}); make it "
            "writable, or set TRAINYARD_CACHE to "
            "a directory that is"
        ) from error
    with lock:
        _wait_for(lock.fileno(), entry, report)
        if entry.complete():
            yield None
            return
        _sweep(entry)
        partial = Path(
            tempfile.mkdtemp(prefix=f".{entry.directory.name}.partial-", dir=entry.directory.parent)
        )
        try:
            yield partial
            _finish(entry, partial)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def content_key(files: Sequence[Path], *parts: str) -> str:
    """Return a hash of ``files`` and ``parts`` as twelve hexadecimal digits."""
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    for part in parts:
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:12]


def _wait_for(descriptor: int, entry: Entry, report: Progress) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        report(f"another trainyard is already getting {entry.directory.name}: waiting for it")
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _sweep(entry: Entry) -> None:
    """Remove the files of a killed process; the caller holds the lock."""
    shutil.rmtree(entry.directory, ignore_errors=True)
    for left in entry.directory.parent.glob(f".{entry.directory.name}.partial-*"):
        shutil.rmtree(left, ignore_errors=True)


def _finish(entry: Entry, partial: Path) -> None:
    missing = [name for name in entry.files if not (partial / name).is_file()]
    if missing:
        raise EngineError(f"{entry.directory.name} came without {', '.join(missing)}")
    for name in entry.files:
        (partial / name).chmod(0o755)
    partial.chmod(0o755)  # mkdtemp makes it private; another account may share the cache
    partial.rename(entry.directory)

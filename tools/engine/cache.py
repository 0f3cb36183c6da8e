"""The cache of programs: one directory an entry, there as a whole or not at all."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.engine.errors import EngineError
from tools.engine.progress import Progress


def cache_directory() -> Path:
    """Return the directory of everything that is got once and kept.

    ``$TRAINYARD_CACHE``, else ``$XDG_CACHE_HOME/trainyard``, else ``~/.cache/trainyard``. It may
    have been filled on another machine of the same platform, and may be read-only then.

    Raises:
        EngineError: none of the variables, nor ``HOME``, is set.
    """
    explicit = os.environ.get("TRAINYARD_CACHE")
    if explicit:
        return Path(explicit).expanduser().absolute()
    base = os.environ.get("XDG_CACHE_HOME") or (
        str(Path(os.environ["HOME"]) / ".cache") if os.environ.get("HOME") else ""
    )
    if not base:
        raise EngineError(
            "there is nowhere to keep the engine: HOME is not set; set TRAINYARD_CACHE to a "
            "directory that outlives this shell"
        )
    return Path(base).absolute() / "trainyard"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One kept set of files."""

    directory: Path
    """Where the files stand."""
    files: tuple[str, ...]
    """Names of the files that have to be there."""

    def complete(self) -> bool:
        """Return whether every file is there, not empty and executable."""
        return all(
            path.is_file() and path.stat().st_size > 0 and os.access(path, os.X_OK)
            for path in (self.directory / name for name in self.files)
        )


@contextlib.contextmanager
def filling(entry: Entry, report: Progress) -> Iterator[Path | None]:
    """Give a directory to put the files of ``entry`` into, or ``None`` if they are there already.

    What is put there becomes the entry when the block ends without an exception, at once: another
    process sees the whole entry or none. Two processes that need the same entry wait for each
    other; the lock is the operating system's, so it ends with its process however that ends.

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
    """Return twelve hexadecimal digits that stand for the contents of ``files`` and ``parts``."""
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

"""Read and write files: those that users name, and those that the command line writes for itself.

No other module opens files; `tests/contract/test_files.py` enforces it. Reading never waits for
another process: only regular files are read, and a part of limited size. Writing is atomic: a
reader sees the whole file or none, even after a full disk. A file that is written is also there
after a power failure: https://lwn.net/Articles/457667/. What is no regular file, such as a pipe or
`/dev/stdout`, is written into and never replaced.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import sys
from pathlib import Path
from typing import BinaryIO, TextIO

MOST_BYTES = 400 * 2**20
"""Maximum size of a file: that of a message between the engine and its programs, so that no state
and no stack is larger. `_MAX_RPC_MESSAGE_SIZE` in
https://github.com/pulumi/pulumi/blob/v3.260.0/sdk/python/lib/pulumi/runtime/_grpc_settings.py"""

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}
_DESCRIPTORS = re.compile(r"/proc/(\d+)(?:/task/\d+)?/fd")
_MOST_LINKS = 40
"""As the kernel follows: https://man7.org/linux/man-pages/man7/path_resolution.7.html"""


class FileRefusedError(Exception):
    """A file that the user names cannot be read or written; the message names it, and why."""


def file_bytes(path: Path, *, most_bytes: int = MOST_BYTES) -> bytes:
    """Return the content of a regular file.

    Raises:
        OSError: it cannot be read, is no regular file, or has more bytes; the error names it.
    """
    with opened_file(path) as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(errno.EINVAL, f"it has more than {most_bytes} bytes", str(path))
    return content


def opened_file(path: Path, *, follow_links: bool = True) -> BinaryIO:
    """Open a regular file to read it.

    Raises:
        OSError: it cannot be read, or is no regular file; the error names it.
    """
    # Some devices do something when they are opened, and without O_NONBLOCK, a named pipe waits
    # for a writer.
    _refuse_irregular(path, path.stat(follow_symlinks=follow_links))
    flags = os.O_RDONLY | os.O_NONBLOCK | (0 if follow_links else os.O_NOFOLLOW)
    descriptor = os.open(path, flags)
    try:
        _refuse_irregular(path, os.fstat(descriptor))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _refuse_irregular(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "a link")
        raise OSError(errno.EINVAL, f"it is {kind}, not a regular file", str(path))


def file_text(path: Path, *, errors: str = "strict") -> str:
    """Return the text of a regular file in UTF-8, as `Path.read_text` does.

    Raises:
        OSError: it cannot be read, is no regular file, or is too large.
        UnicodeDecodeError: it is not UTF-8, and errors are `strict`.
    """
    text = file_bytes(path).decode("utf-8", errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def given_bytes(path: Path, *, most_bytes: int = MOST_BYTES) -> bytes:
    """Return the content of a file that the user names.

    Raises:
        FileRefusedError: it does not exist, cannot be read, is no regular file, or is too large.
    """
    try:
        return file_bytes(path, most_bytes=most_bytes)
    except (OSError, ValueError) as error:  # ValueError: a path with a null byte
        raise _not_read(path, error) from error


def refuse_unreadable(path: Path, *, directory: bool = False) -> None:
    """Refuse a file that cannot be read, before the work that needs it.

    Args:
        path: The file.
        directory: Whether it can be a directory.

    Raises:
        FileRefusedError: it does not exist, cannot be read, or is of another kind.
    """
    try:
        if directory and path.is_dir():
            return
        opened_file(path).close()
    except (OSError, ValueError) as error:
        raise _not_read(path, error) from error


def _not_read(path: Path, error: OSError | ValueError) -> FileRefusedError:
    if isinstance(error, FileNotFoundError):
        return FileRefusedError(f"{path} does not exist")
    if not isinstance(error, OSError):
        return FileRefusedError(f"{str(path)!r} cannot be read: {error}")
    if error.errno != errno.EINVAL:
        return FileRefusedError(f"{path} cannot be read ({error.strerror})")
    return FileRefusedError(f"{path} cannot be read: {error.strerror}")


def write_whole(path: Path, text: str, *, mode: int | None = None) -> None:
    """Write a text file atomically: the old content stays until the new content is complete.

    A link is kept, and the file that it names is written. A pipe or a device is written into.

    Args:
        path: The file.
        text: Its new content.
        mode: Its permissions; None for those that it has, or 0644 if it is new.

    Raises:
        OSError: the file cannot be written; the error names it, and the old content is unchanged.
    """
    try:
        found = _found(path)
        if (found is None or stat.S_ISREG(found.st_mode)) and not _is_descriptor(path):
            keeps = stat.S_IMODE(found.st_mode) if found and mode is None else None
            target = Path(os.path.realpath(path))
            _replace(target, text.encode(), mode=0o644 if mode is None else mode, keeps=keeps)
        else:
            _write_into(path, text.encode())
    except OSError as error:
        # A failed write names no file, and a failed open names the temporary one.
        raise OSError(error.errno, error.strerror, str(path)) from error


def _found(path: Path) -> os.stat_result | None:
    """Return what a path is, or what its last link names; None if that does not exist."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _replace(path: Path, content: bytes, *, mode: int, keeps: int | None) -> None:
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if keeps is not None:
                os.fchmod(descriptor, keeps)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        _keep_names(path.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise


def _is_descriptor(path: Path) -> bool:
    """Return whether a path is a descriptor of a process, such as `/dev/stdout`.

    It can be a file that the shell has opened: replacing it would lose what is written there.
    """
    for _ in range(_MOST_LINKS):
        if _DESCRIPTORS.fullmatch(os.path.realpath(path.parent)):
            return True
        if not path.is_symlink():
            return False
        path = path.parent / path.readlink()
    return False


def _write_into(path: Path, content: bytes) -> None:
    with os.fdopen(_writable_descriptor(path), "wb") as file:
        file.write(content)


def _writable_descriptor(path: Path) -> int:
    """Open a pipe, a device or a descriptor without changing what it is.

    Raises:
        OSError: it is a directory, a socket or a disk, or cannot be written.
    """
    for stream in (sys.stdout, sys.stderr):
        # What was written to it before comes first.
        if stream is not None:
            stream.flush()
    found = path.stat()
    for own in (1, 2):
        # With its position, which opening it again would not have.
        with contextlib.suppress(OSError):
            if _is_descriptor(path) and os.path.samestat(found, os.fstat(own)):
                return os.dup(own)
    _refuse_unwritable_kind(found.st_mode)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(errno.ENXIO, "no program reads the pipe") from error
        raise
    os.set_blocking(descriptor, True)
    return descriptor


def _refuse_unwritable_kind(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, "it is a directory; name a file in it")
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        raise OSError(errno.EINVAL, f"it is {_KINDS[stat.S_IFMT(mode)]}; name a file")


def _keep_names(directory: Path) -> None:
    """Write the names of new files in a directory to the disk, where its file system can."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # some network file systems cannot, and lose no names
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def refuse_unwritable(path: Path) -> None:
    """Refuse a file that cannot be written, before the work whose result it gets.

    It is tried with a file beside it, which is deleted again. A pipe is not opened, because its
    reader would see the end of it.

    Raises:
        FileRefusedError: always then.
    """
    try:
        found = _found(path)
        if _is_descriptor(path):
            return
        if found is None or stat.S_ISREG(found.st_mode):
            _try(Path(os.path.realpath(path)).parent)
            return
        _refuse_unwritable_kind(found.st_mode)
    except (OSError, ValueError) as error:
        raise _not_written(path, error) from error
    if not os.access(path, os.W_OK):
        raise _not_written(path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def refuse_unwritable_directory(path: Path) -> None:
    """Refuse a directory in which no file can be written, before the work whose results it gets.

    It need not exist yet.

    Raises:
        FileRefusedError: always then.
    """
    try:
        there = Path(os.path.realpath(path))
        while not os.path.lexists(there):
            there = there.parent
        _try(there)
    except (OSError, ValueError) as error:
        raise _not_written(path, error) from error


def _try(directory: Path) -> None:
    if not directory.exists():
        raise OSError(
            errno.ENOENT,
            f"the directory {directory} does not exist; create it, or name another place",
        )
    if not directory.is_dir():
        raise OSError(errno.ENOTDIR, f"{directory} is not a directory; name another place")
    probe = directory / f".{secrets.token_hex(8)}"
    try:
        os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileNotFoundError as error:  # what /proc says
        raise OSError(error.errno, f"no file can be created in {directory}") from error
    probe.unlink()


def _not_written(path: Path, error: OSError | ValueError) -> FileRefusedError:
    said = error.strerror if isinstance(error, OSError) else str(error)
    if isinstance(error, NotADirectoryError) and said == os.strerror(errno.ENOTDIR):
        said = "it is below a file; name another place"
    return FileRefusedError(f"{path} cannot be written: {said}; nothing was done")


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, even if it exists with other permissions."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_whole(path, text, mode=0o600)


def first_written(path: Path, text: str) -> str:
    """Return the content of a private file; create it with this text if it does not exist.

    If several processes create it at the same time, the first one wins and all get its text.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    own = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    write_whole(own, text, mode=0o600)
    try:
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(own)
            _keep_names(path.parent)
    finally:
        own.unlink()
    return file_text(path)


def write_new(path: Path, text: str) -> None:
    """Write a file that does not exist yet.

    Raises:
        FileExistsError: it exists, also as a link.
        OSError: it cannot be written.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def private_log(path: Path) -> int:
    """Return a descriptor that appends to a file which only its owner can read.

    The file and its directory are created if they do not exist.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def lock_file(path: Path, *, create: bool) -> int:
    """Return a descriptor of a file that processes lock; children do not inherit it."""
    flags = os.O_RDWR | (os.O_CREAT if create else 0)
    return os.open(path, flags, 0o600)


def unbuffered(path: Path) -> BinaryIO:
    """Open a file anew, each write of which is one call of the system."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    return os.fdopen(descriptor, "wb", buffering=0)  # pyright: ignore[reportReturnType] - a FileIO


def followed(path: Path) -> TextIO:
    """Open a log that another process still writes.

    Raises:
        OSError: it does not exist, or cannot be read.
    """
    return os.fdopen(os.open(path, os.O_RDONLY), encoding="utf-8", errors="replace")

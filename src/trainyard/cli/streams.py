"""The standard streams of the process: closed ones, and those that cannot take what is written.

- A closed stream is opened on /dev/null, as git does (`sanitize_stdfds` in
  https://github.com/git/git/blob/v2.51.0/setup.c): otherwise the next file that is opened gets its
  number, and programs write into that file.
- If the reader of a pipe has ended, as in `trainyard explain | head -1`, the command ends without a
  message and with the exit code of a program that SIGPIPE has ended. It does not die of the signal
  itself, so that an update still ends in order.
- A character that the encoding of the stream lacks is replaced.
"""

from __future__ import annotations

import codecs
import errno
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import TextIO

READER_GONE = 141
"""Exit code: 128 and the number of SIGPIPE.
https://www.gnu.org/software/bash/manual/html_node/Exit-Status.html"""
_NOT_WRITTEN = 1
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_PLAIN = {"…": "...", "•": "*", "·": "-", "±": "+/-"}
"""What the characters that our own messages have are replaced with."""
_REPLACE = "trainyard.replace"


@contextmanager
def standard_streams() -> Iterator[None]:
    """Make the standard streams usable while the block runs, and end it as their readers expect.

    Raises:
        SystemExit: what was written has not arrived.
    """
    written = _usable_streams()
    try:
        try:
            yield
        finally:
            for stream in written:
                stream.flush()
    except SystemExit as error:
        # What typer and rich make of a write that nobody reads.
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        _end(READER_GONE)
    except BrokenPipeError:
        if not _is_reader_gone():
            raise
        _end(READER_GONE)
    except OSError as error:
        if error.filename is not None or error.errno not in _NO_ROOM:
            raise
        with suppress(OSError):
            os.write(2, f"error: the output cannot be written ({error.strerror})\n".encode())
        _end(_NOT_WRITTEN)


def _usable_streams() -> list[TextIO]:
    """Open the closed streams, and return those for output, which take every character."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, _null_stream(number))
    codecs.register_error(_REPLACE, _replaced)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_REPLACE)
    return [sys.stdout, sys.stderr]


def _null_stream(number: int) -> TextIO:
    """Return a stream that is empty and loses what is written, with the number of a closed one."""
    null = os.open(os.devnull, os.O_RDWR)
    if null != number and not _is_open(number):
        os.dup2(null, number)
    if null == number:
        os.set_inheritable(number, True)  # noqa: FBT003 - it has no name
    return os.fdopen(null, "w" if number else "r", encoding="utf-8", closefd=False)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def _replaced(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return what is written instead of characters that an encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    plain = _PLAIN.get(error.object[error.start])
    return (plain, error.start + 1) if plain else codecs.backslashreplace_errors(error)


def _is_reader_gone() -> bool:
    """Return whether standard output or error is a pipe or socket that nobody reads.

    https://man7.org/linux/man-pages/man2/poll.2.html, POLLERR
    """
    waiting = select.poll()
    for number in (1, 2):
        waiting.register(number, 0)
    return any(event & select.POLLERR for _, event in waiting.poll(0))


def _end(code: int) -> None:
    """End the process; Python must not write what remains, which fails again.

    https://docs.python.org/3/library/signal.html#note-on-sigpipe
    """
    null = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(null, number)
    raise SystemExit(code)

"""A command in a pseudo-terminal, and what a person sees there.

pyte interprets the control sequences, so that a live region is seen as a terminal shows it.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyte
from pyte.screens import Char
from rich.style import Style
from rich.text import Text

LINES = 400
"""Lines of the terminal: more than any output has, so that nothing scrolls away."""
_PROMPT = re.compile(r"(?:\]|^--[a-z-]+(?: \(.*\))?): ?$")
"""End of a question, such as `[Y/n]:`, or `--vpc:` without a default."""
_TIMEOUT_SECONDS = 300
_END_SECONDS = 30
"""A process that has closed its terminal ends within this time."""
_COLORS = {"brown": "yellow"}
"""Names of colors in pyte that rich calls otherwise."""


class CommandFailedError(Exception):
    """A command ended with another exit code than the picture needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A command to run for a picture."""

    arguments: Sequence[str]
    columns: int
    answers: Sequence[str] = ()
    """Lines to type, one after each prompt."""
    exit_code: int = 0
    moment: Callable[[str], bool] | None = None
    """Whether the visible text is that of the second picture, taken while the command runs."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What the terminal showed."""

    end: list[Text]
    during: list[Text] | None
    """The lines at the moment of the recording; None if it did not come."""


def record(wanted: Recording, *, directory: Path, environment: Mapping[str, str]) -> Recorded:
    """Run a command in a pseudo-terminal of a number of columns.

    Raises:
        CommandFailedError: it ended with another exit code, or an answer was not asked for.
    """
    screen = pyte.Screen(wanted.columns, LINES)
    stream = pyte.ByteStream(screen)
    terminal, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 50, wanted.columns, 0, 0))
    left, during = [*wanted.answers], None
    with subprocess.Popen(
        wanted.arguments,
        cwd=directory,
        env={**environment, "TERM": "xterm-256color", "COLUMNS": str(wanted.columns)},
        stdin=inside,
        stdout=inside,
        stderr=inside,
        start_new_session=True,
    ) as process:
        os.close(inside)
        for data in _read(terminal):
            stream.feed(data)
            if wanted.moment and during is None and wanted.moment("\n".join(screen.display)):
                during = seen(screen)
            if left and _PROMPT.search(screen.display[screen.cursor.y].rstrip()):
                os.write(terminal, f"{left.pop(0)}\n".encode())
        try:
            process.wait(timeout=_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
    os.close(terminal)
    if process.returncode != wanted.exit_code or left:
        text = "\n".join(screen.display).rstrip()
        raise CommandFailedError(f"{' '.join(wanted.arguments)}: {process.returncode}\n{text}")
    return Recorded(seen(screen), during)


def _read(terminal: int) -> Iterator[bytes]:
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:  # the process has ended and closed the terminal
            return
        if not data:
            return
        yield data


def seen(screen: pyte.Screen) -> list[Text]:
    """Return the lines of a screen with their colors, without empty lines at the end."""
    lines = [_line(screen.buffer[row], screen.columns) for row in range(screen.lines)]
    while lines and not lines[-1].plain:
        lines.pop()
    return lines


def _line(row: Mapping[int, Char], columns: int) -> Text:
    cells = ((row[column].data, _style(row[column])) for column in range(columns))
    text = Text()
    for style, run in itertools.groupby(cells, key=lambda cell: cell[1]):
        text.append("".join(data for data, _ in run), style)
    text.rstrip()
    return text


def _style(char: Char) -> Style:
    return Style(
        color=_color(char.fg),
        bgcolor=_color(char.bg),
        bold=char.bold,
        italic=char.italics,
        underline=char.underscore,
        reverse=char.reverse,
    )


def _color(name: str) -> str | None:
    if name == "default":
        return None
    if re.fullmatch(r"[0-9a-f]{6}", name):
        return f"#{name}"
    bright = name.removeprefix("bright")
    color = _COLORS.get(bright, bright)
    return color if bright == name else f"bright_{color}"

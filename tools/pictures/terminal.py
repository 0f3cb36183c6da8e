"""A command in a pseudo-terminal, what a person sees there, and that as an SVG document."""

from __future__ import annotations

import fcntl
import io
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
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyte
from pyte.screens import Char
from rich.console import Console
from rich.style import Style
from rich.text import Text

# What differs from run to run and from machine to machine, replaced in a picture.
#
# Each replacement has the length of what it replaces, because the lines are already wrapped.


HOME = "/home/researcher"
"""The directory that the pictures show instead of that of the recording."""
BEGAN = datetime(2026, 12, 1, 10, tzinfo=UTC)
"""The time at which all pictures begin. Other times keep their distance from it."""
_STEP = timedelta(minutes=10)
"""Times are rounded to it, because a recording takes a few minutes."""
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)([\s│]+)(\d\d:\d\d)(?= |\n|$)")
"""A date and a time, which can be in two lines of a panel."""
_PORT = re.compile(r"(?<=https://127\.0\.0\.1:)\d+")
_ROLE_SUFFIX = re.compile(r"(?<=-role-)[0-9a-f]{7}\b")
"""The random end of a physical name.
https://www.pulumi.com/docs/iac/concepts/resources/names/#autonaming"""
_SPINNER = re.compile("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]")


def neutral(lines: Sequence[Text], *, place: Path, began: datetime) -> list[Text]:
    """Return the lines without directories, times, ports and random names of this machine.

    Durations and the order of resources that are created at the same time stay.

    Args:
        lines: What a terminal shows.
        place: Directory of the recording. Its path must be as long as `HOME`.
        began: When the sandbox of the recording began.

    Raises:
        ValueError: a replacement has another length.
    """
    text = "\n".join(line.plain for line in lines)
    shown = text.replace(str(place), HOME)
    shown = _TIME.sub(lambda found: _moved(found, began), shown)
    shown = _PORT.sub(lambda found: "54321"[: len(found[0])], shown)
    shown = _ROLE_SUFFIX.sub("1a2b3c4", shown)
    shown = _SPINNER.sub("⠋", shown)
    if [*map(len, shown.split("\n"))] != [*map(len, text.split("\n"))]:
        raise ValueError(f"a replacement has another length:\n{shown}")
    return [
        Text(plain, spans=line.spans) for plain, line in zip(shown.split("\n"), lines, strict=True)
    ]


def _moved(found: re.Match[str], began: datetime) -> str:
    day, gap, time = found.groups()
    steps = round((datetime.fromisoformat(f"{day} {time}+00:00") - began) / _STEP)
    moved = BEGAN + steps * _STEP
    return f"{moved:%Y-%m-%d}{gap}{moved:%H:%M}"


_FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""rich's own format loads a font from the network; this one uses fonts of the reader."""


def terminal_svg(lines: Sequence[Text], *, columns: int, title: str, name: str) -> str:
    """Return a picture of a terminal.

    Args:
        lines: What it shows.
        columns: Its width.
        title: Text of the title bar.
        name: Prefix of the classes, so that several pictures fit into one page.
    """
    console = Console(
        record=True,
        width=columns,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
    )
    for line in lines:
        console.print(line, soft_wrap=True)
    text = console.export_svg(title=title, code_format=_FORMAT, unique_id=name)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines() if line.strip())


# A command in a pseudo-terminal, and what a person sees there.
#
# pyte interprets the control sequences, so that a live region is seen as a terminal shows it.


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

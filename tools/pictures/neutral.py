"""What differs from run to run and from machine to machine, replaced in a picture.

Each replacement has the length of what it replaces, because the lines are already wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rich.text import Text

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

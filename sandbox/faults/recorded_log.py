"""A recorded log that a schedule gives to a container."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, ValidationInfo

DIRECTORY = "directory"
"""Key of the validation context: the directory of the schedule, from which paths start."""


@dataclass(frozen=True, slots=True)
class RecordedLog:
    """A file, as it was when the schedule was read."""

    path: Path
    lines: tuple[str, ...]


def _read(value: Any, info: ValidationInfo) -> RecordedLog:
    """Read the file of a path in a schedule.

    Raises:
        ValueError: it is no path of a readable file.
    """
    if not isinstance(value, str) or not value:
        raise ValueError("is the path of a text file, relative to the schedule")
    path = Path((info.context or {}).get(DIRECTORY) or "/") / value
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error
    return RecordedLog(path, tuple(text.splitlines()))


LogFile = Annotated[
    RecordedLog,
    BeforeValidator(_read),
    PlainSerializer(lambda log: str(log.path), return_type=str),
]
"""The path of a log in a schedule."""

"""A job as the scheduler of a stack lists it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedJob:
    """A job of a stack."""

    id: str
    """What the scheduler calls it: namespace and name in EKS."""
    name: str
    short_name: str = ""
    """The name that `run` was given, if the scheduler has it with a suffix."""
    state: str
    """As the scheduler calls it."""
    nodes: int | None
    """None if the scheduler does not list it."""
    started: datetime | None
    ended: datetime | None
    has_ended: bool

    def is_called(self, text: str) -> bool:
        """Return whether a text is its id or one of its names."""
        return text in (self.id, self.name, self.short_name or self.name)

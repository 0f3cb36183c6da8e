"""A job as the scheduler of a stack lists it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime


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


def sorted_jobs(jobs: list[ListedJob]) -> list[ListedJob]:
    """Return jobs that have not ended first, and then the newest first."""
    never = datetime.min.replace(tzinfo=UTC)
    newest = sorted(jobs, key=lambda each: each.started or never, reverse=True)
    return sorted(newest, key=lambda each: each.has_ended)

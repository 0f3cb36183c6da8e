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
    state: str
    """As the scheduler calls it."""
    nodes: int | None
    """None if the scheduler does not list it."""
    started: datetime | None
    ended: datetime | None
    has_ended: bool

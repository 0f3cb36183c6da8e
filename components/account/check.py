"""One account check and its problems."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from components.config.problems import Problem


@dataclass(frozen=True, slots=True, init=False)
class Check:
    """A check that has run."""

    name: str
    """Subject, for messages: `reservations`."""
    problems: tuple[Problem, ...]
    """Empty if the check passed or could not read the facts that it needs."""

    def __init__(self, name: str, problems: Iterable[Problem]) -> None:
        """Run the check by iterating over its problems."""
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "problems", tuple(problems))

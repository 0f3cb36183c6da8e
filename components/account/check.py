"""One thing that a stack is checked for in an account, and what was wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from components.config.problems import Problem


@dataclass(frozen=True, slots=True, init=False)
class Check:
    """A check that has run."""

    name: str
    """What was looked at, for people: `reservations`."""
    problems: tuple[Problem, ...]
    """Empty where it passed, and where what it needs could not be read."""

    def __init__(self, name: str, problems: Iterable[Problem]) -> None:
        """Run the check, which happens while its problems are yielded."""
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "problems", tuple(problems))

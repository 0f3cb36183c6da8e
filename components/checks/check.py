"""One account check: its subjects, the AWS calls that it needs, and its problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trainyard.components.config.problems import ROOT, Problem

NOTHING_FOUND = "no problem found"
"""Result of a passed check without facts to show."""


def as_warnings(problems: Iterable[Problem]) -> Iterator[str]:
    """Yield problems as warnings: what exists already is not created again and keeps running."""
    for each in problems:
        yield f"{each.path.removeprefix(f'{ROOT}.')}: {each.found}: {each.problem}; {each.remedy}"


@dataclass(frozen=True, slots=True)
class Subject:
    """A key of the stack file that a check is about."""

    key: str
    """Key in the stack file, below `trainyard:cluster`."""
    asked: str
    """The checked conditions, as in `exists, is active, has room`."""
    found: str = NOTHING_FOUND
    """Facts from the account if the check passed."""
    calls: tuple[str, ...] = ()
    """AWS calls that the check needs."""


@dataclass(frozen=True, slots=True, init=False)
class Check:
    """A check that has run."""

    name: str
    """Noun, for messages: `reservations`."""
    problems: tuple[Problem, ...]
    """Empty if the check passed or could not read the facts that it needs."""
    subjects: tuple[Subject, ...]
    """What was checked; a problem is about the subject with the longest matching key."""

    def __init__(
        self, name: str, problems: Iterable[Problem], subjects: Iterable[Subject] = ()
    ) -> None:
        """Run the check by iterating over its problems."""
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "problems", tuple(problems))
        object.__setattr__(self, "subjects", tuple(subjects))

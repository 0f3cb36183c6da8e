"""The rows of the checks that the program itself makes before it registers anything.

A check yields what is wrong, with the key of the stack file. What was looked at, and so what
passed, is listed here once for each check: a problem stands in the row of the longest key that it
lies under, and a problem under none of them has a row of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from components.account.check import Check
from components.account.facts import AccountFacts
from components.config.problems import Problem
from components.preflight.facts import why_not
from components.preflight.row import Row, below_root, ok, refused, skipped
from components.preflight.subjects import Subject, subjects_of

if TYPE_CHECKING:
    from components.config.stack_models import AnyStackConfig


@dataclass(frozen=True, slots=True)
class _Judged:
    subject: Subject
    problems: list[Problem]


def account_rows(
    config: AnyStackConfig, facts: AccountFacts, checks: Iterable[Check]
) -> Iterator[Row]:
    """Yield the rows of the checks that have run, in their order."""
    told: set[tuple[str, str]] = set()
    for name, problems in _by_name(checks).items():
        judged = [_Judged(subject, []) for subject in subjects_of(name, config, facts)]
        for problem in problems:
            # The plan and the account may both see one fault.
            if (problem.path, problem.problem) not in told:
                told.add((problem.path, problem.problem))
                _place(problem, name, judged)
        for each in judged:
            yield from _rows(each, facts)


def _by_name(checks: Iterable[Check]) -> dict[str, list[Problem]]:
    named: dict[str, list[Problem]] = {}
    for check in checks:
        named.setdefault(check.name, []).extend(check.problems)
    return named


def _place(problem: Problem, name: str, judged: list[_Judged]) -> None:
    path = below_root(problem.path)
    over = [each for each in judged if _lies_under(path, each.subject.key)]
    if not over:
        over = [_Judged(Subject(path, name, ""), [])]
        judged.extend(over)
    max(over, key=lambda each: len(each.subject.key)).problems.append(problem)


def _lies_under(path: str, key: str) -> bool:
    return path == key or path.startswith((f"{key}.", f"{key}["))


def _rows(judged: _Judged, facts: AccountFacts) -> Iterator[Row]:
    subject = judged.subject
    for problem in judged.problems:
        yield refused(subject.asked, problem)
    if judged.problems:
        return
    reason = why_not(facts.unreadable, *subject.calls)
    if reason is not None:
        yield skipped(subject.key, subject.asked, reason)
    else:
        yield ok(subject.key, subject.asked, subject.found)

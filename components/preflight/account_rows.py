"""Rows for the account checks that the program runs before it registers resources.

A check yields problems, each with a key of the stack file, and names its subjects, so that passed
checks have rows too: a problem goes into the row with the longest matching key, or into its own row
if none matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.preflight_facts import why_not
from trainyard.components.checks.check import Check, Subject
from trainyard.components.checks.row import Row, below_root, ok, refused, skipped
from trainyard.components.config.problems import Problem


@dataclass(frozen=True, slots=True)
class _Judged:
    subject: Subject
    problems: list[Problem]


def account_rows(facts: AccountFacts, checks: Iterable[Check]) -> Iterator[Row]:
    """Yield the rows of the completed checks, in order."""
    for name, same in _by_name(checks).items():
        judged = [_Judged(subject, []) for check in same for subject in check.subjects]
        for problem in (problem for check in same for problem in check.problems):
            _place(problem, name, judged)
        for each in judged:
            yield from _rows(each, facts)


def _by_name(checks: Iterable[Check]) -> dict[str, list[Check]]:
    named: dict[str, list[Check]] = {}
    for check in checks:
        named.setdefault(check.name, []).append(check)
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

"""One line of the preflight's table: what was asked of the account, and what it said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from components.config.problems import ROOT, Problem, show

Verdict = Literal["ok", "warning", "refused", "skipped"]
"""`skipped`: the question could not be asked, and `found` says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The answer to one question."""

    subject: str
    """Key in the stack file, below `trainyard:cluster`; `caller` for what belongs to no key."""
    asked: str
    """What was asked, as words that a yes would follow: `exists, is active, has room`."""
    verdict: Verdict
    found: str
    """What the account said."""
    problem: Problem | None = None
    """The way out; with the verdict `refused` only."""

    def as_json(self) -> dict[str, str]:
        """Return the row as plain JSON; what is refused has its `fix`."""
        fix = {} if self.problem is None else {"fix": self.problem.remedy}
        return {
            "subject": self.subject,
            "asked": self.asked,
            "verdict": self.verdict,
            "found": self.found,
            **fix,
        }


def ok(subject: str, asked: str, found: str) -> Row:
    """Return a row that says yes."""
    return Row(subject=subject, asked=asked, verdict="ok", found=found)


def warning(subject: str, asked: str, found: str) -> Row:
    """Return a row that says what to mind."""
    return Row(subject=subject, asked=asked, verdict="warning", found=found)


def skipped(subject: str, asked: str, why: str) -> Row:
    """Return a row that says why there is no answer."""
    return Row(subject=subject, asked=asked, verdict="skipped", found=why)


def refused(asked: str, problem: Problem) -> Row:
    """Return a row that says no."""
    found = problem.problem
    if problem.found is not None:
        found = f"{show(problem.found)}: {found}"
    return Row(
        subject=below_root(problem.path),
        asked=asked,
        verdict="refused",
        found=found,
        problem=problem,
    )


def below_root(path: str) -> str:
    """Return a key of the stack file without the one that all have in common."""
    return path.removeprefix(f"{ROOT}.")

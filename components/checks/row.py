"""One row of the preflight table: a question and its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trainyard.components.config.problems import ROOT, Problem, show

Verdict = Literal["ok", "warning", "refused", "skipped"]
"""`skipped`: the check could not run; `found` has the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The answer to one question."""

    subject: str
    """Key in the stack file, below `trainyard:cluster`; `caller` for rows without a key."""
    asked: str
    """The checked conditions, as in `exists, is active, has room`."""
    verdict: Verdict
    found: str
    """The answer of the account."""
    problem: Problem | None = None
    """Problem and fix; only with the verdict `refused`."""

    def as_json(self) -> dict[str, str]:
        """Return the row as plain JSON; a refused row has a `fix`."""
        fix = {} if self.problem is None else {"fix": self.problem.remedy}
        return {
            "subject": self.subject,
            "asked": self.asked,
            "verdict": self.verdict,
            "found": self.found,
            **fix,
        }


def ok(subject: str, asked: str, found: str) -> Row:
    """Return a row for a passed check."""
    return Row(subject=subject, asked=asked, verdict="ok", found=found)


def warning(subject: str, asked: str, found: str) -> Row:
    """Return a row with a warning."""
    return Row(subject=subject, asked=asked, verdict="warning", found=found)


def skipped(subject: str, asked: str, why: str) -> Row:
    """Return a row for a skipped check, with the reason."""
    return Row(subject=subject, asked=asked, verdict="skipped", found=why)


def refused(asked: str, problem: Problem) -> Row:
    """Return a row for a failed check."""
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
    """Return a key of the stack file without the common root key."""
    return path.removeprefix(f"{ROOT}.")

"""One account check, what it needs, and its row in the preflight table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from trainyard.components.config.problems import ROOT, Problem, show

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

    def without_problems(self) -> Check:
        """Return what the check found to be right; warnings tell the rest."""
        wrong = {problem.found for problem in self.problems}
        return Check(self.name, (), (each for each in self.subjects if each.found not in wrong))


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


Finding: TypeAlias = Check | Row | str
"""What a check yields: a result with its problems, a row of `check --live`, or a warning."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeNeeds:
    """Requirements of an architecture's nodes on their VPC, and the effect if they are not met."""

    dns: str
    """What fails without DNS resolution in the VPC."""
    registry: str
    """What nodes cannot reach without egress, apart from the internet."""
    endpoints: frozenset[str]
    """Services whose endpoints replace internet access."""
    closed: str
    """What fails without both."""
    endpoint_owner: str
    """What needs the endpoints, for messages."""


@dataclass(frozen=True, slots=True)
class ServiceRole:
    """A service-linked role and its purpose."""

    name: str
    service: str
    """Service name for `iam:CreateServiceLinkedRole`."""
    key: str
    """Key of the stack file that needs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchitectureNeeds:
    """Needs of one architecture."""

    nodes: NodeNeeds | None
    """None for a network stack, which has no nodes."""
    zone_users: str
    """What needs a zone of the region itself, for messages."""
    excluded_zones: frozenset[str] = frozenset()
    """Ids of zones that the architecture cannot use."""
    places_file_systems: bool = False
    """Whether the program places new Lustre file systems and mounts existing ones.

    ParallelCluster does both itself."""
    quotas: tuple[str, ...] = ()
    """Quotas that its resources count towards, by name in `trainyard.components.catalog.quotas`."""
    service_roles: tuple[ServiceRole, ...] = ()
    """Service-linked roles that AWS creates when they are first needed."""

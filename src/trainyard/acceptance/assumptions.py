"""What the sandbox and the program take to be true of AWS, and what an acceptance has seen of it.

The catalogue is `assumptions.yaml`. An assumption is confirmed or contradicted by positive evidence
only: a step that passed on AWS, a line that its command printed, a call that AWS answered. A step
that failed contradicts nothing, because it can fail for many reasons.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from trainyard.acceptance.steps import Done
from trainyard.components.package_data import data_text
from trainyard.components.secret_text import without_secrets

CATALOGUE = Path(__file__).with_name("assumptions.yaml")
DOCUMENT = Path(__file__).parents[3] / "docs" / "acceptance.md"
BEGIN = "<!-- assumptions: begin (python -m tools.acceptance) -->"
END = "<!-- assumptions: end -->"
Kind = Literal["batch", "eks", "network", "parallelcluster"]
StepName = Literal[
    "check",
    "up",
    "up again",
    "refresh",
    "test",
    "repair",
    "run",
    "resume",
    "status",
    "change",
    "block",
    "diagnose",
    "destroy",
    "remains",
]
"""Names of the steps, in their order."""
Outcome = Literal["confirmed", "contradicted", "not seen"]
Sentence = Annotated[str, Field(min_length=20, pattern=r"^\S[^\n|]*\S$")]
"""One line of Markdown that fits into a cell of a table."""


class Line(BaseModel):
    """A line of the output of a step."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    matches: str
    """Regular expression that is searched for in each line."""
    example: str
    """A line that it matches."""
    printed_by: str
    """The file of this repository that has the text of the example, or the address of a page where
    AWS or the provider printed it."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if re.search(self.matches, self.example) is None:
            raise ValueError(f"{self.matches!r} does not match its example {self.example!r}")
        return self


class Assumption(BaseModel):
    """An entry of the catalogue."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    assumes: Sentence
    """What is taken to be true of AWS."""
    place: str
    """The file of the sandbox or the program that relies on it, from the root of the repository."""
    kinds: Annotated[tuple[Kind, ...], Field(min_length=1, strict=False)]
    """Kinds of the stacks that show it."""
    step: StepName | None = None
    """The step that shows it; None if none does."""
    says: Line | None = None
    """What the output of the step must have as well, such as the resource that it is about."""
    contradicts: Line | None = None
    """What shows that AWS does otherwise, whether the step passed or not."""
    calls: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[a-z0-9-]+:[A-Z]\w+$")], ...], Field(strict=False)
    ] = ()
    """Calls (`service:Operation`, names as in boto3) that AWS must have answered as well."""
    unsettled: Sentence | None = None
    """Why no step shows it, and what would."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.step is None) == (self.unsettled is None):
            raise ValueError(f"{self.id}: give either `step` or `unsettled`")
        if self.step is None and (self.says or self.contradicts or self.calls):
            raise ValueError(f"{self.id}: `says`, `contradicts` and `calls` need `step`")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What an acceptance has seen of an assumption."""

    id: str
    assumes: str
    step: str
    """The step that shows it; empty if none does."""
    verdict: Outcome
    evidence: str
    """The line of the output, or the step; why it was not seen. Secrets are hidden."""


@functools.cache
def catalogue() -> tuple[Assumption, ...]:
    """Return the assumptions, in the order of the file.

    Raises:
        ValidationError: an entry is not valid; the message names it.
        ValueError: two entries have the same id.
    """
    content = yaml.safe_load(data_text(CATALOGUE))
    found = TypeAdapter(tuple[Assumption, ...]).validate_python(content, strict=False)
    ids = [each.id for each in found]
    if twice := sorted({each for each in ids if ids.count(each) > 1}):
        raise ValueError(f"{CATALOGUE.name} has two entries with the id {', '.join(twice)}")
    return found


def verdicts(
    kind: str,
    done: Sequence[Done],
    logs: Mapping[str, str],
    *,
    sandbox: bool,
    called: Collection[str],
    assumptions: Sequence[Assumption] | None = None,
) -> list[Verdict]:
    """Return what an acceptance has seen of every assumption, in their order.

    Args:
        kind: Kind of the stack: `batch`, `eks`, `network` or `parallelcluster`.
        done: Results of the steps.
        logs: Output by the name of the step, such as `up again`; of `remains`, what is left behind.
        sandbox: Whether the account was emulated, which shows nothing of AWS.
        called: Calls that AWS answered, as `service:Operation`, such as `eks:DescribeCluster`.
        assumptions: The assumptions; None for those of the catalogue.
    """
    shown = {name: without_secrets(log) for name, log in logs.items()}
    seen = _Seen(kind, {each.name: each.result for each in done}, shown, sandbox, called)
    wanted = catalogue() if assumptions is None else assumptions
    return [_verdict(each, seen) for each in wanted]


@dataclass(frozen=True, slots=True)
class _Seen:
    """What an acceptance has seen."""

    kind: str
    results: Mapping[str, str]
    """By the name of the step."""
    logs: Mapping[str, str]
    """Without secrets."""
    sandbox: bool
    called: Collection[str]


def _verdict(assumption: Assumption, seen: _Seen) -> Verdict:
    step = assumption.step or ""
    log = seen.logs.get(step, "")
    outcome: Outcome = "not seen"
    evidence = _excluded(assumption, seen)
    if evidence:
        pass
    elif line := _found(assumption.contradicts, log):
        outcome, evidence = "contradicted", line
    elif not (evidence := _lacking(assumption, seen)):
        outcome = "confirmed"
        evidence = _found(assumption.says, log) or f"{step} passed"
    return Verdict(
        id=assumption.id,
        assumes=assumption.assumes,
        step=step,
        verdict=outcome,
        evidence=evidence,
    )


def _excluded(assumption: Assumption, seen: _Seen) -> str:
    """Return why the acceptance cannot show an assumption; empty if it can."""
    if seen.sandbox:
        return "the sandbox is not AWS"
    if assumption.unsettled is not None:
        return assumption.unsettled
    if seen.kind not in assumption.kinds:
        return f"no stack of the kind {seen.kind} shows it"
    return ""


def _lacking(assumption: Assumption, seen: _Seen) -> str:
    """Return what is missing for a confirmation; empty if nothing is."""
    step = assumption.step or ""
    result = seen.results.get(step)
    if result is None:
        return f"{step} has not run"
    if result != "pass":
        return f"{step} did not pass, which can have another reason"
    if missing := [call for call in assumption.calls if call not in seen.called]:
        return f"{step} passed, and no answer to {' and '.join(missing)} was recorded"
    if assumption.says and not _found(assumption.says, seen.logs.get(step, "")):
        return f"{step} passed, and printed no line about it"
    return ""


def _found(wanted: Line | None, log: str) -> str:
    """Return the first line of a log that a pattern matches; empty if there is none."""
    if wanted is None:
        return ""
    pattern = re.compile(wanted.matches)
    return next((each.strip() for each in log.splitlines() if pattern.search(each)), "")


def with_tables(document: str) -> str:
    """Return the text of `DOCUMENT` with the current tables between its markers."""
    before, _, rest = document.partition(BEGIN)
    _, _, after = rest.partition(END)
    shown = [each for each in catalogue() if each.step is not None]
    rows = [f"| {each.assumes} | {_place(each)} | {each.step} |" for each in shown]
    other = [each for each in catalogue() if each.unsettled is not None]
    others = [f"| {each.assumes} | {_place(each)} | {each.unsettled} |" for each in other]
    lines = [
        f"{len(shown)} assumptions are settled by a step:",
        "",
        "| Assumption | Relied on in | Step |",
        "|---|---|---|",
        *rows,
        "",
        f"{len(other)} are not settled by any step:",
        "",
        "| Assumption | Relied on in | Why no step settles it, and what would |",
        "|---|---|---|",
        *others,
    ]
    return "\n".join([f"{before}{BEGIN}", "", *lines, "", f"{END}{after}"])


def _place(assumption: Assumption) -> str:
    return f"`{assumption.place}`"

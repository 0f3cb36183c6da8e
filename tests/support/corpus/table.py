"""The page that lists the corpus: `python -m tests.support.corpus.table`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from pulumi_policy import EnforcementLevel

from tests.support.corpus.case import STAGES, Case, Stage, broken, good
from trainyard.policies.pack.discovery import POLICIES

PAGE = Path(__file__).parents[3] / "docs" / "corpus.md"
_FILES = "../tests/corpus"
ADVISORY = frozenset(p.name for p in POLICIES if p.enforcement_level is EnforcementLevel.ADVISORY)
"""Rules that have messages but refuse nothing."""

_INTRODUCTION = """# Known misconfigurations

Made by `python -m tests.support.corpus.table` from the files in `tests/corpus`; change those.

Each row of the first tables is a stack file or a program with the misconfiguration of the linked
thread, and the stage at which trainyard refuses it, before a resource exists. The last table lists
configurations that look wrong but are right, and pass every stage. `./trainyard test tests/corpus`
runs all cases and prints how many were caught at each stage and how many were falsely refused. A
case that is not caught at its own stage, with the message in its file, fails the run.

- **schema** and **plan**: `./trainyard check`, without an account or an engine;
- **preflight**: `check --live` reads the account;
- **policy**: the policy pack checks the registered resources, in the preview.

A configuration that can be intended is reported, not refused: by a note of the plan, or by an
advisory rule.

| Stage | Cases |
|---|---|
"""


def page() -> str:
    """Return the page, as Markdown."""
    cases, fine = broken(), good()
    counts = "".join(f"| {figure} |\n" for figure in _figures(cases, fine))
    parts = [_INTRODUCTION + counts]
    for stage in STAGES:
        rows = "".join(_row(case) for case in cases if case.stage == stage)
        head = "| Case | What happened | Refused at | Thread |\n|---|---|---|---|\n"
        parts.append(f"## Caught by {_TITLES[stage]}\n\n{head}{rows}")
    rows = "".join(f"| {_link(case, 'good')} | {case.happened} |\n" for case in fine if case.file)
    shipped = sum(not case.file for case in fine)
    parts.append(
        f"## What passes\n\nBesides the {shipped} stack files of the repository:\n\n"
        f"| Case | Why it looks wrong |\n|---|---|\n{rows}"
    )
    return "\n".join(parts)


_TITLES: dict[Stage, str] = {
    "schema": "the schema",
    "plan": "the plan",
    "preflight": "the preflight",
    "policy": "the policy pack",
}


def _figures(cases: Iterable[Case], fine: Iterable[Case]) -> Iterable[str]:
    every = list(cases)
    for stage in STAGES:
        found = [case for case in every if case.stage == stage]
        told = sum(_is_only_told(case) for case in found)
        note = f", {told} of them reported only" if told else ""
        yield f"{stage} | {len(found)}{note}"
    yield f"**broken** | **{len(every)}**"
    yield f"**good** | **{len(list(fine))}**"


def _row(case: Case) -> str:
    at = f"[{case.at}](policies.md#{case.at})" if case.stage == "policy" else f"`{case.at}`"
    thread = case.thread.removeprefix("https://github.com/")
    repository, _, number = thread.replace("/issues/", "#").replace("/pull/", "#").partition("#")
    told = " (reported)" if _is_only_told(case) else ""
    cited = f"[{repository}#{number}]({case.thread})"
    return f"| {_link(case, 'broken')} | {case.happened} | {at}{told} | {cited} |\n"


def _link(case: Case, folder: str) -> str:
    words = case.name.replace("-", " ")
    return f"[{words}]({_FILES}/{folder}/{case.name}.yaml)"


def _is_only_told(case: Case) -> bool:
    return case.noted or case.at in ADVISORY


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE} is current\n")

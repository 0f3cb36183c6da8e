"""`explain`: what a rule requires, why, how to fix a violation, and what enforces it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from trainyard.cli import console, failures, options
from trainyard.rules.explanation import (
    Listing,
    UnknownRuleError,
    find,
    listing,
    requirement_as_json,
    rule_as_json,
    stage_in_words,
    stages_of,
)

_WIDTH = 96
_LABEL = 10


def explain(
    rule: Annotated[
        str | None,
        typer.Argument(
            help="Name of a policy, such as efa-interface-count, or of a rule, such as A4."
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Explain a rule: what it requires, why, and what enforces it. Without a name, list all."""
    every = listing()
    if rule is None:
        _list(every, as_json=as_json)
        return
    found = _found(rule, every)
    if as_json:
        console.answer_json(found)
    else:
        console.answer("\n".join(_text(found)))


def _found(name: str, every: Listing) -> dict[str, Any]:
    try:
        found = find(name, every)
    except UnknownRuleError as error:
        near = f"did you mean {' or '.join(error.nearest)}? " if error.nearest else ""
        raise failures.WrongUseError(
            f"there is no rule {name!r}; {near}`./trainyard explain` lists all rules"
        ) from error
    if isinstance(found, tuple):
        return requirement_as_json(*found)
    return rule_as_json(found, today=datetime.now(UTC).date())


def _list(every: Listing, *, as_json: bool) -> None:
    if as_json:
        today = datetime.now(UTC).date()
        console.answer_json(
            {
                "policies": [rule_as_json(rule, today=today) for rule in every.policies],
                "rules": [requirement_as_json(*each) for each in every.requirements],
            }
        )
        return
    console.answer(f"{'POLICY':44} {'LEVEL':10} {'SEVERITY':9} ENFORCES")
    for rule in every.policies:
        ids = ", ".join(rule.requirements) or "baseline"
        console.answer(f"{rule.name:44} {rule.level:10} {rule.severity:9} {ids}")
    console.answer(f"\n{'RULE':5} {'SEVERITY':9} {'ENFORCED BY':36} WHAT MUST HOLD")
    for requirement, judged in every.requirements:
        stages = ", ".join(stages_of(requirement, in_pack=bool(judged))) or "nothing"
        told = f"{requirement.id:5} {requirement.severity:9} {stages:36} {requirement.holds}"
        console.answer(told)


def _text(found: Mapping[str, Any]) -> Iterator[str]:
    about = [found["level"]] if "level" in found else []
    yield f"{found['name']}  ({', '.join([found['kind'], *about, found['severity']])})"
    yield from _paragraph("holds", found["holds"])
    yield from _paragraph("why", found["why"])
    yield from _paragraph("fix", found["fix"])
    for source in found["sources"]:
        yield f"  {'source':{_LABEL}}{source}"
    yield from _enforced(found)
    if found.get("note"):
        yield from _paragraph("note", found["note"])
    if found.get("enforces"):
        ids = (_id(name, stages) for name, stages in found["elsewhere"].items())
        yield from _paragraph("enforces", ", ".join(ids))
    for key, description in found.get("configuration", {}).items():
        yield from _paragraph("key", f"{key}: {description}")
    if "suppression" in found:
        yield from _suppression(found["name"], found["suppression"])


def _id(name: str, stages: Sequence[str]) -> str:
    """Return the id of a rule in the pack, with the other stages that enforce it."""
    return f"{name} (before it: {', '.join(stages)})" if stages else name


def _enforced(found: Mapping[str, Any]) -> Iterator[str]:
    for stage, places in found["enforced"].items():
        yield from _paragraph(stage, f"{stage_in_words(stage)}: {', '.join(places)}")
    if found.get("left_out"):
        label, before = ("besides", "") if found["enforced"] else ("enforced", "by nothing here: ")
        yield from _paragraph(label, f"{before}{found['left_out']}")


def _suppression(name: str, example: Mapping[str, Any]) -> Iterator[str]:
    (entry,) = example[name]["suppressions"]
    yield ""
    yield (
        "  To suppress it for one resource until a date, in the stack file under trainyard:cluster:"
    )
    yield ""
    yield "    policies:"
    yield f"      {name}:"
    yield "        suppressions:"
    yield f"          - resource: {entry['resource']}"
    yield f"            reason: {entry['reason']}"
    yield f"            expires: {entry['expires']}"


def _paragraph(label: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        width=_WIDTH,
        initial_indent=f"  {label:{_LABEL}}",
        subsequent_indent=" " * (_LABEL + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )

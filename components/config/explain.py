"""Convert pydantic errors to problems with a fix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sized
from typing import Any, cast, get_origin

from pydantic_core import ErrorDetails

from trainyard.components.config.finding import Finding
from trainyard.components.config.keys import kinds_of, literals_of, location_in, value_at
from trainyard.components.config.limits import LIMITS, explain_limit
from trainyard.components.config.problems import Problem, remove_command
from trainyard.components.config.unknown_keys import explain_unknown_key
from trainyard.components.config.wrong_values import (
    TYPES,
    explain_choice,
    explain_form,
    explain_kind,
    explain_type,
)


def explain(errors: Iterable[ErrorDetails], raw: Any, *, stack_file: str) -> list[Problem]:
    """Return a problem for each error, in the order of the schema."""
    findings = [Finding(raw, stack_file, location_in(raw, e["loc"]), e) for e in errors]
    unknown_kinds = {f.location[:-1] for f in findings if _names_an_unknown_kind(f)}
    return [
        problem
        for finding in findings
        # Other keys cannot be checked if the kind is unknown.
        if finding.location[:-1] not in unknown_kinds or _names_an_unknown_kind(finding)
        if not _counts_wrong_entries(finding)
        for problem in _EXPLAIN.get(finding.error["type"], _otherwise)(finding)
    ]


def _names_an_unknown_kind(finding: Finding) -> bool:
    return finding.error["type"] == "literal_error" and finding.location[-1:] == ("kind",)


def _counts_wrong_entries(finding: Finding) -> bool:
    """Return whether a list is only too short because pydantic does not count wrong entries."""
    least = finding.context.get("min_length")
    if finding.error["type"] != "too_short" or least is None:
        return False
    return len(cast("Sized", finding.found)) >= least


def _missing(finding: Finding) -> list[Problem]:
    """Explain a missing value; for a missing section, explain each required value."""
    place = finding.place
    model = place.model if place else None
    if model is not None:
        required = [name for name, field in model.model_fields.items() if field.is_required()]
        return [p for name in required for p in _missing(finding.below(name))]
    description = place.description if place else ""
    return [
        Problem(
            path=finding.path,
            problem=f"is missing: {description}" if description else "is missing",
            allowed=_allowed(finding),
            remedy=_added(finding),
        )
    ]


def _needed(finding: Finding) -> list[Problem]:
    """Explain a missing value that only some configurations require."""
    return _missing(finding.below(finding.context["key"]))


def _added(finding: Finding) -> str:
    """Return how to add a missing value; only the user knows which."""
    place = finding.place
    if place is None or get_origin(place.annotation) is dict:
        return "add an entry in the stack file"
    if get_origin(place.annotation) is tuple:
        first = finding.example_of(finding.example, (*finding.location, 0))
        return f"{first}  # and so on with [1], [2]"
    kinds = kinds_of(place.annotation)
    if kinds:
        return finding.example_of(kinds[0], (*finding.location, "kind"))
    if place.annotation is int:
        return finding.example_of(str(_least(place.field.metadata if place.field else ())))
    values = ["true"] if place.annotation is bool else literals_of(place.annotation)
    if len(values) == 1:
        return finding.set_to(values[0])
    return finding.example_of(values[0] if values else finding.example)


def _least(metadata: Iterable[Any]) -> int:
    return next((each.ge for each in metadata if hasattr(each, "ge")), 1)


def _allowed(finding: Finding) -> str | None:
    place = finding.place
    if place is None:
        return None
    kinds = kinds_of(place.annotation)
    if kinds:
        return f"kind: {', '.join(kinds)}"
    values = literals_of(place.annotation)
    return ", ".join(values) if values else None


def _contradiction(finding: Finding) -> list[Problem]:
    context = finding.context
    inner = finding.below(context["key"])
    return [
        Problem(
            path=inner.path,
            problem=f"{finding.error['msg']}; {context['why']}",
            found=inner.found,
            allowed=context["allowed"],
            remedy=context["remedy"],
        )
    ]


def _contradictions(finding: Finding) -> list[Problem]:
    """Explain every contradiction of one location, which pydantic reports as one error."""
    return [
        Problem(
            path=f"{finding.path}.{each['key']}",
            problem=f"{each['problem']}; {each['why']}",
            found=value_at(finding.raw, (*finding.location, each["key"])),
            allowed=each["allowed"],
            remedy=each["remedy"],
        )
        for each in finding.context["all"]
    ]


def _wrong_type(finding: Finding) -> list[Problem]:
    return _nothing(finding) if finding.found is None else explain_type(finding)


def _nothing(finding: Finding) -> list[Problem]:
    """Explain a key without a value; a key with a default can be removed."""
    place = finding.place
    if place is None or place.field is None or place.field.is_required():
        return _missing(finding)
    remove = remove_command(finding.path, stack_file=finding.stack_file)
    return [
        Problem(
            path=finding.path,
            problem=f"has no value: {place.description}",
            allowed="a value, or no such key, for the default",
            remedy=f"{remove}, or set a value",
        )
    ]


def _otherwise(finding: Finding) -> list[Problem]:
    """Explain any other error with the message of pydantic."""
    message = finding.error["msg"]
    return [
        Problem(
            path=finding.path,
            problem=message[:1].lower() + message[1:],
            found=finding.found,
            remedy="change the value",
        )
    ]


_EXPLAIN: Mapping[str, Callable[[Finding], list[Problem]]] = {
    "missing": _missing,
    "needed": _needed,
    "extra_forbidden": explain_unknown_key,
    "form": explain_form,
    "contradiction": _contradiction,
    "contradictions": _contradictions,
    "literal_error": explain_choice,
    "union_tag_invalid": explain_kind,
    "union_tag_not_found": explain_kind,
    **dict.fromkeys(TYPES, _wrong_type),
    **dict.fromkeys(LIMITS, explain_limit),
}

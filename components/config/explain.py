"""Convert pydantic errors to problems with a fix."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, get_origin

from pydantic_core import ErrorDetails

from components.config.finding import Finding
from components.config.given_stack import GivenStack
from components.config.keys import (
    kinds_of,
    kinds_with,
    literals_of,
    location_in,
    model_at,
    value_at,
)
from components.config.limits import LIMITS, explain_limit
from components.config.problems import Problem, remove_command, show


def explain(errors: Iterable[ErrorDetails], raw: Any, *, stack_file: str) -> list[Problem]:
    """Return a problem for each error, in the order of the schema."""
    findings = [Finding(raw, stack_file, location_in(raw, e["loc"]), e) for e in errors]
    unknown_kinds = {f.location[:-1] for f in findings if _names_an_unknown_kind(f)}
    return [
        problem
        for finding in findings
        # Other keys cannot be checked if the kind is unknown.
        if finding.location[:-1] not in unknown_kinds or _names_an_unknown_kind(finding)
        for problem in _EXPLAIN.get(finding.error["type"], _otherwise)(finding)
    ]


def _names_an_unknown_kind(finding: Finding) -> bool:
    return finding.error["type"] == "literal_error" and finding.location[-1:] == ("kind",)


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
            remedy=_set_remedy(finding),
        )
    ]


def _needed(finding: Finding) -> list[Problem]:
    """Explain a missing value that only some configurations require."""
    return _missing(finding.below(finding.context["key"]))


def _set_remedy(finding: Finding) -> str:
    place = finding.place
    if place is None:
        return finding.set_to("VALUE")
    if get_origin(place.annotation) is tuple:
        first = finding.set_to(finding.placeholder, (*finding.location, 0))
        return f"{first} (and so on with [1], [2])"
    if get_origin(place.annotation) is dict:
        return "add an entry in the stack file"
    kinds = kinds_of(place.annotation)
    if kinds:
        return finding.set_to(kinds[0], (*finding.location, "kind"))
    if place.annotation is int:
        return finding.set_to("NUMBER")
    values = ["true"] if place.annotation is bool else literals_of(place.annotation)
    return finding.set_to(values[0] if values else finding.placeholder)


def _allowed(finding: Finding) -> str | None:
    place = finding.place
    if place is None:
        return None
    kinds = kinds_of(place.annotation)
    if kinds:
        return f"kind: {', '.join(kinds)}"
    values = literals_of(place.annotation)
    return ", ".join(values) if values else None


def _unknown_key(finding: Finding) -> list[Problem]:
    *parents, key = finding.location
    model = model_at(GivenStack, finding.raw, tuple(parents))
    keys = list(model.model_fields) if model else []
    nearest = difflib.get_close_matches(str(key), keys, n=1, cutoff=0.6)
    remove = remove_command(finding.path, stack_file=finding.stack_file)
    kinds = [f"`kind: {each}`" for each in kinds_with(GivenStack, finding.raw, finding.location)]
    if model is not None and kinds:
        own = value_at(finding.raw, (*parents, "kind"))
        return [
            Problem(
                path=finding.path,
                problem=f"belongs to {' or '.join(kinds)}, but this is `kind: {own}`",
                found=finding.found,
                allowed=", ".join(sorted(keys)),
                remedy=f"{remove}; or change `kind`, and set the keys of that kind",
            )
        ]
    return [
        Problem(
            path=finding.path,
            problem="is not a valid key here" + _did_you_mean(nearest),
            found=finding.found,
            allowed=", ".join(sorted(keys)),
            remedy=f"rename it to `{nearest[0]}`, or: {remove}" if nearest else remove,
        )
    ]


def _wrong_form(finding: Finding) -> list[Problem]:
    example = finding.context["example"]
    if finding.location and finding.location[-1] == "[key]":
        finding = Finding(finding.raw, finding.stack_file, finding.location[:-1], finding.error)
        return [
            Problem(
                path=finding.path,
                problem="is not a valid name here",
                found=finding.location[-1],
                allowed=finding.context["expected"],
                remedy=f"rename this entry, for example to `{example}`",
            )
        ]
    return [
        Problem(
            path=finding.path,
            problem=f"is not {finding.context['expected']}",
            found=finding.found,
            allowed=f"for example {example}",
            remedy=finding.set_to(finding.placeholder_of(example)),
        )
    ]


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


def _wrong_choice(finding: Finding) -> list[Problem]:
    place = finding.place
    choices = literals_of(place.annotation) if place else []
    nearest = difflib.get_close_matches(str(finding.found), choices, n=1, cutoff=0.5)
    return [
        Problem(
            path=finding.path,
            problem="is not one of the allowed values" + _did_you_mean(nearest),
            found=finding.found,
            allowed=", ".join(choices),
            remedy=finding.set_to((nearest or choices or ["VALUE"])[0]),
        )
    ]


def _wrong_kind(finding: Finding) -> list[Problem]:
    place = finding.place
    kinds = kinds_of(place.annotation) if place else []
    inner = finding.below("kind")
    nearest = difflib.get_close_matches(str(inner.found), kinds, n=1, cutoff=0.4)
    missing = inner.found is None
    return [
        Problem(
            path=inner.path,
            problem="is missing" if missing else "is not valid here" + _did_you_mean(nearest),
            found=inner.found,
            allowed=", ".join(kinds),
            remedy=inner.set_to((nearest or kinds)[0]),
        )
    ]


_TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
    "datetime_type": "a time such as 2026-12-01T11:30:00Z",
    "datetime_from_date_parsing": "a time such as 2026-12-01T11:30:00Z",
    "datetime_parsing": "a time such as 2026-12-01T11:30:00Z",
    "timezone_aware": "a time with its UTC offset, such as 2026-12-01T11:30:00Z",
}


def _wrong_type(finding: Finding) -> list[Problem]:
    if finding.found is None:
        return _nothing(finding)
    expected = _TYPES[finding.error["type"]]
    return [
        Problem(
            path=finding.path,
            problem=f"is not {expected}",
            found=finding.found,
            allowed=expected,
            remedy=_type_remedy(finding, expected),
        )
    ]


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


def _type_remedy(finding: Finding, expected: str) -> str:
    found = finding.found
    if expected == "text" and isinstance(found, int | float):
        # YAML reads an unquoted 1.30 as the number 1.3.
        return f'write it in quotes in the stack file: "{show(found)}"'
    if isinstance(found, str) and expected in {"a whole number", "true or false"}:
        return f"write {expected}, without quotes, in the stack file"
    return f"give {expected}"


def _otherwise(finding: Finding) -> list[Problem]:
    """Explain any other error with the message of pydantic."""
    message = finding.error["msg"]
    return [
        Problem(
            path=finding.path,
            problem=_lower_first(message),
            found=finding.found,
            remedy="change the value",
        )
    ]


def _did_you_mean(nearest: list[str]) -> str:
    return f"; the nearest is `{nearest[0]}`" if nearest else ""


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


_EXPLAIN: Mapping[str, Callable[[Finding], list[Problem]]] = {
    "missing": _missing,
    "needed": _needed,
    "extra_forbidden": _unknown_key,
    "form": _wrong_form,
    "contradiction": _contradiction,
    "contradictions": _contradictions,
    "literal_error": _wrong_choice,
    "union_tag_invalid": _wrong_kind,
    "union_tag_not_found": _wrong_kind,
    **dict.fromkeys(_TYPES, _wrong_type),
    **dict.fromkeys(LIMITS, explain_limit),
}

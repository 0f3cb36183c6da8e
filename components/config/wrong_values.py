"""Problems of wrong values, and the values that they were probably meant to be."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, get_args, get_origin

from pydantic import ValidationError

from trainyard.components.config.keys import (
    SchemaError,
    kinds_of,
    literals_of,
    location_in,
    value_at,
)
from trainyard.components.config.problems import (
    Problem,
    nearest,
    nearest_of,
    remove_command,
    show,
)
from trainyard.components.config.stack_models import given_model
from trainyard.components.look_alikes import odd_characters, plain_characters
from trainyard.components.secret_text import is_private_key, looks_secret

_YES = frozenset({"yes", "on", "y", "true", "enabled"})
_NO = frozenset({"no", "off", "n", "false", "disabled"})


def correction(finding: SchemaError, choices: Sequence[str] = ()) -> str | None:
    """Return the value that solves a problem, as `pulumi config set` takes it; None if unclear.

    `choices` are the allowed values, if there is a list of them. A value is only returned if the
    problem is gone with it.
    """
    found = finding.found
    candidates = (*nearest_of(found, choices), *_of_text(found, finding))
    return next((each for each in dict.fromkeys(candidates) if solves(finding, each)), None)


def solves(finding: SchemaError, value: str) -> bool:
    """Return whether a location has no problem any more with a value from the command line."""
    raw = deepcopy(finding.raw)
    *parents, key = finding.location
    place = raw
    try:
        for part in parents:
            place = place[part]
        place[key] = typed(value)
    except (KeyError, IndexError, TypeError):
        return False
    return not any(
        place[: len(finding.location)] == finding.location for place in _error_places(raw)
    )


def typed(value: str) -> object:
    """Return a value as `pulumi config set --path` stores it.

    https://github.com/pulumi/pulumi/blob/v3.260.0/sdk/go/common/resource/config/value.go: it reads
    `true`, `false` and whole numbers that are written without a leading zero.
    """
    if value in ("true", "false"):
        return value == "true"
    return int(value) if re.fullmatch(r"0|-?[1-9]\d{0,17}", value, re.ASCII) else value


def _error_places(raw: Any) -> Iterator[tuple[str | int, ...]]:
    kind = value_at(raw, ("architecture", "kind"))
    try:
        given_model(kind).model_validate_json(json.dumps(raw))
    except ValidationError as error:
        for each in error.errors(include_url=False):
            place = location_in(raw, each["loc"])
            context = each.get("ctx") or {}
            for inner in (context, *context.get("all", ())):
                yield (*place, inner["key"]) if "key" in inner else place


def _of_text(found: object, finding: SchemaError) -> Iterator[str]:
    """Yield what a value becomes without slips of typing, copying and of other tools' syntax."""
    if isinstance(found, bool) or not isinstance(found, str | int):
        return
    plain = plain_characters(str(found)).strip().strip("\"'`").strip()
    yield plain
    yield plain.lower()
    yield plain.upper()
    yield plain.rstrip("/")
    yield from _of_numbers_in(plain)
    if plain.lower() in _YES | _NO:
        yield str(plain.lower() in _YES).lower()
    with_bits = _network(plain)
    if with_bits:
        yield with_bits
    if len(plain.splitlines()) > 1:
        yield plain.splitlines()[0].strip()
        return
    place = finding.place
    # Any text would pass with hyphens; only a name has a form.
    if place and place.example and not re.search(r"[/:.]", plain):
        yield re.sub(r"[^A-Za-z0-9-]+", "-", plain).strip("-")
        yield re.sub(r"[^a-z0-9-]+", "-", plain.lower()).strip("-")


def _of_numbers_in(text: str) -> Iterator[str]:
    found = re.fullmatch(r"(-?\d+)(?:\.0+)?(?:\s*[A-Za-z]+)?", text)
    if found:
        yield found[1]


def _network(text: str) -> str | None:
    """Return the network of an address, such as 10.0.0.0/16 of 10.0.4.7/16."""
    try:
        return str(ipaddress.IPv4Network(text, strict=False))
    except ValueError:
        return None


TYPES = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "float_type": "a number",
    "finite_number": "a number",
    "date_type": "a date such as 2026-12-01",
    "date_parsing": "a date such as 2026-12-01",
    "date_from_datetime_parsing": "a date such as 2026-12-01",
    "date_from_datetime_inexact": "a date such as 2026-12-01",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
    "timezone_naive": "a time with its UTC offset, such as 2026-12-01T11:30:00Z",
    "datetime_object_invalid": "a time such as 2026-12-01T11:30:00Z",
    "int_parsing_size": "a whole number of at most 18 digits",
    "datetime_type": "a time such as 2026-12-01T11:30:00Z",
    "datetime_from_date_parsing": "a time such as 2026-12-01T11:30:00Z",
    "datetime_parsing": "a time such as 2026-12-01T11:30:00Z",
    "timezone_aware": "a time with its UTC offset, such as 2026-12-01T11:30:00Z",
}
"""The expected type in words, by the error type of pydantic."""


def explain_form(finding: SchemaError) -> list[Problem]:
    """Return the problem of a text, or the name of an entry, that has not the required form."""
    context = finding.context
    if _is_entry(finding):
        return [_wrong_name(finding, context["expected"], example=context["example"])]
    expected = context["expected"]
    if isinstance(finding.found, str) and looks_secret(finding.found):
        return [_secret(finding, expected, where=context.get("where", ""))]
    return [
        Problem(
            path=finding.path,
            problem=f"is not {expected}{_odd(finding.found)}",
            found=finding.found,
            allowed=f"for example {context['example']}",
            remedy=_corrected(finding) or _given(finding),
        )
    ]


def _secret(finding: SchemaError, expected: str, *, where: str) -> Problem:
    private = is_private_key(str(finding.found))
    what = "a private key" if private else "what looks like a secret"
    return Problem(
        path=finding.path,
        problem=(
            f"holds {what}, which is not shown here; everybody who can read the stack file or its "
            "history can use it"
        ),
        allowed=expected,
        remedy=(
            f"remove it from the stack file and its history, and replace the "
            f"{'key pair' if private else 'secret'}; give {where or expected}"
        ),
    )


def _wrong_name(finding: SchemaError, expected: str, *, example: str) -> Problem:
    entry = _entry(finding)
    name = str(entry.location[-1])
    plain = plain_characters(name) if odd_characters(name) else example
    return Problem(
        path=entry.path,
        problem=f"is not a valid name here{_odd(name)}",
        found=name,
        allowed=expected,
        remedy=f"rename this entry, for example to `{plain}`",
    )


def explain_choice(finding: SchemaError) -> list[Problem]:
    """Return the problem of a value, or the name of an entry, that is not an allowed one."""
    if _is_entry(finding):
        return [_unknown_name(finding)]
    choices = _choices(finding)
    meant = correction(finding, choices) or nearest(finding.found, choices)
    return [
        Problem(
            path=finding.path,
            problem=f"is not one of the allowed values{_odd(finding.found)}{_did_you_mean(meant)}",
            found=finding.found,
            allowed=", ".join(choices),
            remedy=finding.set_to(meant) if meant else _one_of(finding, choices),
        )
    ]


def _unknown_name(finding: SchemaError) -> Problem:
    """Explain the name of an entry that is not one of the names that a mapping can have."""
    entry = _entry(finding)
    mapping = entry.parent.place
    annotation = mapping.annotation if mapping else None
    choices = literals_of(get_args(annotation)[0]) if get_origin(annotation) is dict else []
    name = str(entry.location[-1])
    meant = nearest(name, choices)
    return Problem(
        path=entry.path,
        problem=f"is not one of the allowed names{_odd(name)}{_did_you_mean(meant)}",
        found=name,
        allowed=", ".join(choices),
        remedy=f"rename this entry to `{meant}`"
        if meant
        else f"remove this entry: {remove_command(entry.path, stack_file=finding.stack_file)}",
    )


def explain_kind(finding: SchemaError) -> list[Problem]:
    """Return the problem of a section whose `kind` is missing or unknown."""
    place = finding.place
    kinds = kinds_of(place.annotation) if place else []
    inner = finding.below("kind")
    missing = inner.found is None
    meant = None if missing else nearest(inner.found, kinds)
    odd = "" if missing else _odd(inner.found)
    return [
        Problem(
            path=inner.path,
            problem="is missing" if missing else f"is not valid here{odd}{_did_you_mean(meant)}",
            found=inner.found,
            allowed=", ".join(kinds),
            remedy=inner.set_to(meant) if meant else _one_of(inner, kinds),
        )
    ]


def explain_type(finding: SchemaError) -> list[Problem]:
    """Return the problem of a value of another type than the required one."""
    expected = TYPES[finding.error["type"]]
    if expected == "a whole number" and _base_60(finding.found) is not None:
        return [_sexagesimal(finding)]
    return [
        Problem(
            path=finding.path,
            problem=f"is not {expected}{_odd(finding.found)}",
            found=finding.found,
            allowed=expected,
            remedy=_type_remedy(finding, expected),
        )
    ]


def _base_60(found: object) -> int | None:
    """Return the number that YAML 1.1 makes of digits with colons, such as 90 of `1:30`.

    https://yaml.org/type/int.html, base 60; the engine and YAML 1.2 read text.
    """
    if not isinstance(found, str) or not re.fullmatch(r"\d+(?::[0-5]?\d)+", found, re.ASCII):
        return None
    number = 0
    for part in found.split(":"):
        number = number * 60 + int(part)
    return number


def _sexagesimal(finding: SchemaError) -> Problem:
    number = _base_60(finding.found)
    return Problem(
        path=finding.path,
        problem=(
            f"is not a whole number: YAML 1.1 reads it as {number} (base 60), and the engine, as "
            "YAML 1.2, as text"
        ),
        found=finding.found,
        allowed="a whole number, in the unit of the key",
        remedy=(
            finding.set_to(str(number))
            if solves(finding, str(number))
            else "write the number in the unit of the key"
        ),
    )


def _type_remedy(finding: SchemaError, expected: str) -> str:
    found = finding.found
    if expected == "text" and isinstance(found, int | float):
        # YAML reads an unquoted 1.30 as the number 1.3.
        quoted = f'write it in quotes in the stack file: "{show(found)}"'
        example = finding.example
        if isinstance(found, float) and solves(finding, example):
            return f"{quoted}, with a 0 at its end if there was one; or: {finding.set_to(example)}"
        return quoted
    if isinstance(found, str) and expected in {"a whole number", "true or false"}:
        corrected = _corrected(finding)
        return corrected or f"write {expected}, without quotes, in the stack file"
    if expected == "a list" and not isinstance(found, dict | list):
        return f"write it as a list in the stack file: [{show(found)}]"
    return f"give {expected}"


def _corrected(finding: SchemaError) -> str | None:
    value = correction(finding)
    return finding.set_to(value) if value is not None else None


def _given(finding: SchemaError) -> str:
    context = finding.context
    where = context.get("where", "")
    if "or remove the key" in where:
        return f"give {where} ({remove_command(finding.path, stack_file=finding.stack_file)})"
    return f"give {where}" if where else finding.example_of(context["example"])


def _choices(finding: SchemaError) -> list[str]:
    place = finding.place
    return literals_of(place.annotation) if place else []


def _one_of(finding: SchemaError, choices: list[str]) -> str:
    if len(choices) == 1:
        return finding.set_to(choices[0])
    return finding.example_of(choices[0]) if choices else "change the value"


def _odd(value: object) -> str:
    """Return the look-alike characters of a value, as an addition to its problem."""
    odd = odd_characters(value) if isinstance(value, str) else ""
    return f": it contains {odd}" if odd else ""


def _did_you_mean(meant: str | None) -> str:
    return f"; the nearest is `{meant}`" if meant else ""


def _is_entry(finding: SchemaError) -> bool:
    return finding.location[-1:] == ("[key]",)


def _entry(finding: SchemaError) -> SchemaError:
    return replace(finding, location=finding.location[:-1])

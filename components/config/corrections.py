"""The values that a wrong value was probably meant to be, tried before they are offered."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

from pydantic import ValidationError

from trainyard.components.config.finding import Finding
from trainyard.components.config.keys import location_in, value_at
from trainyard.components.config.nearest import nearest_of
from trainyard.components.config.stack_models import given_model
from trainyard.components.look_alikes import plain_characters

_YES = frozenset({"yes", "on", "y", "true", "enabled"})
_NO = frozenset({"no", "off", "n", "false", "disabled"})


def correction(finding: Finding, choices: Sequence[str] = ()) -> str | None:
    """Return the value that solves a problem, as `pulumi config set` takes it; None if unclear.

    `choices` are the allowed values, if there is a list of them. A value is only returned if the
    problem is gone with it.
    """
    found = finding.found
    candidates = (*nearest_of(found, choices), *_of_text(found, finding))
    return next((each for each in dict.fromkeys(candidates) if solves(finding, each)), None)


def solves(finding: Finding, value: str) -> bool:
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


def _of_text(found: object, finding: Finding) -> Iterator[str]:
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
    if not re.search(r"[/:.]", plain):  # a name
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

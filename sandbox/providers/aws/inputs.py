"""What may stand in a resource's inputs, and how they compare with what is there."""

from __future__ import annotations

import json
from typing import Any

from sandbox.providers.aws.resource import ResourceType, Values


def faults(kind: ResourceType, news: Values) -> list[tuple[str, str]]:
    """Return each property that is unknown or missing, with the reason."""
    nested = kind.unknown_inside(news) if kind.unknown_inside else []
    unknown = [
        (
            name,
            (
                f"the sandbox does not know the property {name} of {kind.token}; it would have to "
                "be added under sandbox/providers/aws/resources"
            ),
        )
        for name in [*sorted(news.keys() - kind.inputs), *nested]
    ]
    missing = [(name, f"{name} is required") for name in sorted(kind.required - news.keys())]
    return unknown + missing


def as_written(wanted: Any, found: Any) -> Any:
    """Return what was found in the shape that the program wrote.

    What AWS adds to a nested object is an output and no input, what AWS does not report stays as
    it was written; a JSON document that says the same keeps the program's wording, and
    what is empty in it says nothing.
    """
    if isinstance(wanted, dict) and isinstance(found, dict):
        return {key: as_written(value, found.get(key, value)) for key, value in wanted.items()}
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        return [as_written(*pair) for pair in zip(wanted, found, strict=True)]
    if isinstance(wanted, str) and isinstance(found, str) and _same_json(wanted, found):
        return wanted
    return found


def filled(value: Any) -> Any:
    """Return a JSON value without empty lists and mappings, at every depth."""
    if isinstance(value, dict):
        kept = {key: filled(each) for key, each in value.items()}
        return {key: each for key, each in kept.items() if each not in ([], {}, None)}
    return [filled(each) for each in value] if isinstance(value, list) else value


def _same_json(wanted: str, found: str) -> bool:
    try:
        return wanted.startswith(("{", "[")) and filled(json.loads(wanted)) == filled(
            json.loads(found)
        )
    except ValueError:
        return False

"""Read and replace values of a stack file by their path."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any


def value_at(raw: Mapping[str, Any], place: Sequence[str]) -> Any:
    """Return the value at a path of a file, or None."""
    value: Any = raw
    for key in place:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def with_value(
    raw: Mapping[str, Any], place: Sequence[str], value: Any, *, removed: Any = None
) -> dict[str, Any]:
    """Return a copy of a file with a value at a path; the value `removed` removes the key."""
    changed = copy.deepcopy(dict(raw))
    *parents, key = place
    target: Any = changed
    for parent in parents:
        target = target.setdefault(parent, {})
    if value is removed:
        target.pop(key, None)
    else:
        target[key] = value
    return changed


def with_values(raw: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a file with values by path, such as `network.vpc_id`; None removes a key."""
    changed = copy.deepcopy(dict(raw))
    for place, value in values.items():
        changed = with_value(changed, place.split("."), value)
    return changed

"""Documents with the keys of a format's schema, for tests of the report on every field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tools.importing.key_table import Keys, KeyTable

_MAP = {"Chosen": "value"}
_VALUES: Mapping[str, Any] = {
    "text": "value",
    "integer": 4,
    "number": 1.5,
    "boolean": True,
    "list": ["value"],
    "map": _MAP,
    "maps": [_MAP],
    "any": "value",
    "anys": [_MAP],
}
"""A value by the kind of the key."""


def document_with(
    keys: KeyTable,
    fixed: Mapping[str, Any],
    *,
    wanted: Callable[[Keys], bool] = lambda _: True,
    value_of: Callable[[str], Any] = _VALUES.__getitem__,
) -> dict[str, Any]:
    """Return a document with all keys of a schema.

    Args:
        keys: The keys of the schema.
        fixed: Values by path, such as those by which the format is recognized.
        wanted: Whether the document has a key; a section that it does not have has no keys.
        value_of: Returns a value for a kind of key.
    """
    return _section(keys, (), fixed, wanted, value_of)


def _section(
    keys: KeyTable,
    at: Keys,
    fixed: Mapping[str, Any],
    wanted: Callable[[Keys], bool],
    value_of: Callable[[str], Any],
) -> dict[str, Any]:
    section: dict[str, Any] = {}
    for path, kind in keys.kinds.items():
        if path[:-1] != at:
            continue
        name = ".".join(path)
        holds_fixed = any(f"{each}.".startswith(f"{name}.") for each in fixed)
        if not (holds_fixed or wanted(path)):
            continue
        if name in fixed:
            section[path[-1]] = fixed[name]
        elif kind in ("section", "sections", "named"):
            below = _section(keys, path, fixed, wanted, value_of)
            forms = {"section": below, "sections": [below], "named": {"Chosen": below}}
            section[path[-1]] = forms[kind]
        else:
            section[path[-1]] = value_of(kind)
    return section

"""Documents of other tools, as tests read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

from trainyard.importing.imported import Imported, import_file
from trainyard.importing.key_table import Keys, KeyTable
from trainyard.importing.source import text_of


def read_text(directory: Path, text: str) -> Imported:
    """Return what becomes of the only document of a text."""
    path = directory / "source.yaml"
    path.write_text(dedent(text), encoding="utf-8")
    (read,) = import_file(path)
    assert isinstance(read, Imported)
    return read


def read_directory(directory: Path, **files: str) -> Imported:
    """Return what becomes of a directory of Terraform; `main="…"` is `main.tf`."""
    for name, text in files.items():
        suffix = "" if "." in name else ".tf"
        (directory / f"{name}{suffix}").write_text(dedent(text), encoding="utf-8")
    (read,) = import_file(directory)
    assert isinstance(read, Imported)
    return read


def outcomes(read: Imported) -> Mapping[str, tuple[str, str]]:
    """Return fate and key of the stack file by field."""
    return {
        text_of(entry.location): (entry.claim.fate, ".".join(map(str, entry.claim.ours)))
        for entry in read.entries
    }


def at(read: Imported, *keys: str) -> Any:
    """Return a value of the stack file below `trainyard:cluster`."""
    value: Any = read.stack.values
    for key in keys:
        value = value[key]
    return value


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

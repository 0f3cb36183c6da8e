"""Documents of other tools, as tests read them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

from tools.importing.imported import Imported, import_file
from tools.importing.source import text_of


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


def fates(read: Imported) -> Mapping[str, tuple[str, str]]:
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

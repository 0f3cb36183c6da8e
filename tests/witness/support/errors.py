"""Refusals of AWS that were recorded: code, HTTP status and the form of the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.witness.support.recordings import Recording
from tests.witness.support.tables import TABLES

ERRORS = TABLES / "errors.json"
_MASKED = (
    (re.compile(r"arn:aws[^\s'\"]+[^\s'\".,]"), "ARN"),
    (re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r"\b([a-z]+)-[0-9a-f]{8,}\b"), r"\1-ID"),
    (re.compile(r"\b\d{12}\b"), "ACCOUNT"),
    (re.compile(r"(?<=\[)[\w-]+(?=\])|(?<=')[\w.-]+(?=')"), "NAME"),
    (re.compile(r"(?<=with id )[\w-]+|(?<=with name )[\w-]+"), "NAME"),
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error code of an operation."""

    operation: str
    code: str
    status: int
    """HTTP status; 0 if it is not recorded."""
    text: str
    """The message without ids."""
    source: str
    """Repository and path of one recording."""


def refusals(found: Iterable[tuple[str, Recording]], sources: Mapping[str, Any]) -> list[Refusal]:
    """Return one refusal for each operation and code."""
    known: dict[tuple[str, str], Refusal] = {}
    for repository, recording in found:
        if not recording.is_error:
            continue
        error = recording.answer.get("Error") or {}
        code, text = str(error.get("Code", "")), str(error.get("Message", ""))
        metadata = recording.answer.get("ResponseMetadata") or {}
        status = int(metadata.get("HTTPStatusCode") or recording.status)
        place = f"{repository}@{sources[repository]['commit'][:8]} {recording.file}"
        if code:
            refusal = Refusal(
                recording.operation, code, 0 if status < 400 else status, masked(text), place
            )
            known.setdefault((recording.operation, code), refusal)
    return [known[key] for key in sorted(known)]


def errors_text(found: Iterable[Refusal]) -> str:
    """Return the text of the file, with one refusal on each line."""
    rows = (
        json.dumps({name: getattr(each, name) for name in Refusal.__dataclass_fields__})
        for each in found
    )
    return "[\n" + ",\n".join(rows) + "\n]\n"


def known_refusals() -> list[Refusal]:
    """Return the recorded refusals."""
    return [Refusal(**row) for row in json.loads(ERRORS.read_text(encoding="utf-8"))]


def masked(text: str) -> str:
    """Return a message without ids."""
    for pattern, name in _MASKED:
        text = pattern.sub(name, text)
    return text

"""Documents that a property holds as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def parsed(text: object) -> Any:
    """Return the document, or None where the text is no JSON or is no text."""
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def parsed_members(text: object) -> Mapping[str, Any]:
    """Return a JSON object with every key begun in lower case; empty where there is none.

    The AWS provider reads documents of AWS Batch without regard to case, and people write them in
    that of the API (`numNodes`) and in that of CloudFormation (`NumNodes`).
    """
    document = _lower(parsed(text))
    return document if isinstance(document, dict) else {}


def members(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object inside a document; empty where there is none."""
    section = document.get(name)
    return section if isinstance(section, dict) else {}


def entries(document: Mapping[str, Any], name: str) -> list[Any]:
    """Return the entries of a list inside a document; what stands without a list is the only one.

    Empty where there is nothing.
    """
    found = document.get(name)
    if found is None:
        return []
    return found if isinstance(found, list) else [found]


def objects(document: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the objects of a list inside a document; empty where there is none.

    An object without a list is the only one.
    """
    return [each for each in entries(document, name) if isinstance(each, dict)]


def texts(document: Mapping[str, Any], name: str) -> list[str]:
    """Return the texts of a list inside a document; a text without a list is the only one."""
    return [each for each in entries(document, name) if isinstance(each, str)]


def _lower(document: Any) -> Any:
    if isinstance(document, dict):
        return {key[:1].lower() + key[1:]: _lower(value) for key, value in document.items()}
    return [_lower(item) for item in document] if isinstance(document, list) else document

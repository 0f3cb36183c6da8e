"""Places in the text of a YAML file, for edits that leave everything else as it is."""

from __future__ import annotations

from typing import Any

import yaml


class UneditableError(Exception):
    """A stack file has a form in which it cannot be edited safely."""


def child(node: Any, key: str) -> Any:
    """Return the node of a key in a mapping.

    Raises:
        UneditableError: the node is no mapping, or has no such key.
    """
    if not isinstance(node, yaml.MappingNode):
        raise UneditableError(f"{key} is not in a mapping")
    found = next((value for name, value in node.value if name.value == key), None)
    if found is None:
        raise UneditableError(f"the file has no {key}")
    return found


def line_end(text: str, index: int) -> int:
    """Return the end of the line of a place, before its line break."""
    end = text.find("\n", index)
    end = len(text) if end < 0 else end
    return end - 1 if text[end - 1 : end] == "\r" else end


def newline(text: str) -> str:
    """Return the line break of a file."""
    return "\r\n" if "\r\n" in text else "\n"

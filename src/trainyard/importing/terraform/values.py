"""Values of Terraform expressions: known, known in part, or known only after deployment."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from trainyard.importing.reader import Reader
from trainyard.importing.source import Node, child, plain

UNKNOWN = "!expression"
"""Tag of a value that is not in the files; its text is the expression."""
JSON = "!json"
"""Tag of the argument of `jsonencode`, whose text is known if all of it is."""
_OBJECT = "!object "
"""Begin of the tag of a module or a resource; its address follows."""


def unknown(text: str, line: int, file: Path | None) -> Node:
    """Return the value of an expression that cannot be evaluated."""
    return Node(f"${{{text}}}", line, UNKNOWN, file=file)


def object_at(address: str, values: dict[str, Node], line: int, file: Path | None) -> Node:
    """Return a module or a resource, whose other attributes are known after deployment."""
    return Node(values, line, f"{_OBJECT}{address}", file=file)


def is_unknown(node: Node) -> bool:
    """Return whether a value, or a part of it, is not in the files."""
    if isinstance(node.value, dict):
        return bool(node.tag) or any(map(is_unknown, node.value.values()))
    if isinstance(node.value, list):
        return bool(node.tag) or any(map(is_unknown, node.value))
    return bool(node.tag)


def surely_differ(left: Node, right: Node) -> bool:
    """Return whether one is null and the other a collection, of which nothing need be known."""
    null, other = (left, right) if left.value is None else (right, left)
    is_collection = isinstance(other.value, dict | list) and not other.tag
    return null.value is None and not null.tag and is_collection


def is_known(source: Reader) -> bool:
    """Return whether the files have the value of a scalar."""
    return source.exists and source.node is not None and not source.node.tag


def step(node: Node, key: str | int) -> Node | None:
    """Return the value at a key or an index; None if there is none."""
    if isinstance(key, str) and key.isdigit() and isinstance(node.value, list):
        key = int(key)
    found = child(node, key)
    if found is None and isinstance(node.value, dict) and isinstance(key, int):
        found = child(node, str(key))
    if found is None and node.tag.startswith(_OBJECT):
        address = node.tag.removeprefix(_OBJECT)
        if key == 0:  # `count` of a block that was read without it
            return node
        return unknown(f"{address}.{key}", node.line, node.file)
    return found


def node_of(value: Any, line: int, file: Path | None) -> Node:
    """Return a plain value, or one that holds nodes, as a node."""
    if isinstance(value, Node):
        return value
    if isinstance(value, dict):
        return Node(
            {str(key): node_of(each, line, file) for key, each in value.items()}, line, file=file
        )
    if isinstance(value, list | tuple):
        return Node([node_of(each, line, file) for each in value], line, file=file)
    return Node(value, line, file=file)


def key_text(node: Node) -> str:
    """Return a value as a key of a mapping."""
    value = plain(node)
    return str(value).lower() if isinstance(value, bool) else str(value)


def shown(node: Node) -> Node:
    """Return a value with references in the places of whole modules and resources.

    The argument of `jsonencode` becomes its text.
    """
    if node.tag == JSON:
        inner = shown(replace(node, tag=""))
        tag = UNKNOWN if is_unknown(inner) else ""
        return replace(node, value=json.dumps(plain(inner)), tag=tag)
    if node.tag.startswith(_OBJECT):
        return unknown(node.tag.removeprefix(_OBJECT), node.line, node.file)
    if isinstance(node.value, dict):
        return replace(node, value={key: shown(each) for key, each in node.value.items()})
    if isinstance(node.value, list):
        return replace(node, value=[shown(each) for each in node.value])
    return node

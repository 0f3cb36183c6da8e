"""Answers of an API with the property names of CloudFormation."""

from __future__ import annotations

from trainyard.importing.source import Location, Node

_CHOSEN = ("parameters", "tags", "options", "labels", "capacityTags")
"""Maps whose keys the user chooses."""


def in_pascal_case(node: Node, at: Location, *, renames: bool = True) -> Node:
    """Return an answer with the property names of CloudFormation, which are those of the API.

    Each value keeps its place in the document.
    """
    value = node.value
    if isinstance(value, dict):
        value = {
            key[:1].upper() + key[1:] if renames else key: in_pascal_case(
                each, (*at, key), renames=renames and key not in _CHOSEN
            )
            for key, each in value.items()
        }
    elif isinstance(value, list):
        value = [
            in_pascal_case(each, (*at, index), renames=renames) for index, each in enumerate(value)
        ]
    return Node(value, node.line, node.tag, at)

"""Values of Terraform with the property names of CloudFormation, which are those of the API."""

from __future__ import annotations

from dataclasses import replace

from trainyard.importing.cloudformation.api_names import in_pascal_case
from trainyard.importing.cloudformation.deferred import Deferred
from trainyard.importing.reader import Reader
from trainyard.importing.source import Location, Node
from trainyard.importing.terraform.values import UNKNOWN

_CHOSEN = ("Tags", "Parameters")
"""Maps whose keys the user chooses."""
_SINGLE = ("Ebs", "Placement")
"""Blocks of which there is at most one, which are objects of the API."""
_WHY = "the files do not have its value: set it in the stack file"


def as_properties(source: Reader) -> Reader:
    """Return a block with the names of its arguments as those of properties.

    Each value keeps its place in the document. One that is not known is a `Deferred`.
    """
    node = None if source.node is None else property_node(source.node, source.location)
    return Reader(node, source.location, source.report)


def property_node(node: Node, at: Location, *, is_snake: bool = True) -> Node:
    """Return a value with the names of properties; `is_snake` if it has those of arguments."""
    renamed = in_pascal_case(_deferred(node), at)
    return _without_underscores(renamed) if is_snake else renamed


def _deferred(node: Node) -> Node:
    if isinstance(node.value, dict):
        return replace(node, value={key: _deferred(each) for key, each in node.value.items()})
    if isinstance(node.value, list):
        return replace(node, value=[_deferred(each) for each in node.value])
    is_known = node.tag != UNKNOWN
    return node if is_known else replace(node, value=Deferred(str(node.value), _WHY))


def _without_underscores(node: Node) -> Node:
    if isinstance(node.value, list):
        return replace(node, value=[_without_underscores(each) for each in node.value])
    if not isinstance(node.value, dict):
        return node
    named = {
        "".join(part[:1].upper() + part[1:] for part in key.split("_")): each
        for key, each in node.value.items()
    }
    for key in _SINGLE:
        if key in named and isinstance(named[key].value, list) and named[key].value:
            named[key] = named[key].value[0]
    return replace(
        node,
        value={
            key: each if key in _CHOSEN else _without_underscores(each)
            for key, each in named.items()
        },
    )

"""The instances of a block: one, as many as `count`, or one for each element of `for_each`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from trainyard.importing.source import Node, plain
from trainyard.importing.terraform.expressions import Scope, evaluate
from trainyard.importing.terraform.json_values import JSON_ATTRIBUTES, evaluated_json
from trainyard.importing.terraform.syntax import Block, Expression, text_of
from trainyard.importing.terraform.values import is_unknown, node_of, shown

_AS_TEXT = ("depends_on", "providers", "provider", "ignore_changes")
"""Attributes that name other blocks instead of having values."""
_TYPE = ("variable", "type")
"""Block and attribute of a type, which is no value."""
MOST = 64
"""Maximum number of instances that are read of one block."""


def instances_of(block: Block, scope: Scope) -> Iterator[tuple[str, dict[str, Node]]]:
    """Yield the suffix of the address of each instance, and its values.

    The suffix is empty for a block without `count` and `for_each`, and where these are unknown.
    """
    for suffix, names in _repetitions(block, scope):
        yield suffix, values_of(block, scope, names)
        if not scope.limits.has_steps(block.file):
            return


def _repetitions(block: Block, scope: Scope) -> Iterator[tuple[str, dict[str, Node]]]:
    count, each = block.attributes.get("count"), block.attributes.get("for_each")
    if count is not None:
        number = evaluate(count, scope).value
        if isinstance(number, int):
            for index in range(min(int(number), MOST)):
                yield f"[{index}]", {"count": node_of({"index": index}, block.line, block.file)}
            return
    elif each is not None:
        pairs = _pairs(evaluate(each, scope))
        if pairs is not None:
            for key, value in pairs[:MOST]:
                names = {"key": Node(key, block.line), "value": value}
                yield f'["{key}"]', {"each": node_of(names, block.line, block.file)}
            return
    yield "", {}


def _pairs(node: Node) -> list[tuple[str, Node]] | None:
    """Return what `for_each` goes through; a set has its elements as keys and values."""
    if node.tag:
        return None
    if isinstance(node.value, dict):
        return list(node.value.items())
    if isinstance(node.value, list) and not is_unknown(node):
        return [(str(plain(each)), each) for each in node.value]
    return None


def values_of(
    block: Block, scope: Scope, names: Mapping[str, Node] | None = None
) -> dict[str, Node]:
    """Return the values of the attributes and nested blocks of a block."""
    values = {
        key: _as_text(expression)
        if key in _AS_TEXT or (block.kind, key) == _TYPE
        else _value(key, expression, scope, names or {})
        for key, expression in block.attributes.items()
    }
    scope.limits.count(block.file)
    for below in block.blocks:
        for kind, node in _nested(below, scope, names or {}):
            listed = values.setdefault(kind, Node([], node.line, file=node.file))
            if isinstance(listed.value, list):
                listed.value.append(node)
    return values


def _value(key: str, expression: Expression, scope: Scope, names: Mapping[str, Node]) -> Node:
    if key in JSON_ATTRIBUTES:
        return evaluated_json(expression, scope, names)
    return shown(evaluate(expression, scope, names))


def _as_text(expression: Expression) -> Node:
    tree = expression.tree
    if isinstance(tree, Node):
        return replace(tree, line=expression.line, file=expression.file)
    text = text_of(tree, expression.text).strip('"')
    return Node(text, expression.line, file=expression.file)


def _nested(block: Block, scope: Scope, names: Mapping[str, Node]) -> Iterator[tuple[str, Node]]:
    if block.kind != "dynamic" or not block.labels:
        yield block.kind, Node(values_of(block, scope, names), block.line, file=block.file)
        return
    kind = block.labels[0]
    content = next((each for each in block.blocks if each.kind == "content"), None)
    through = block.attributes.get("for_each")
    if content is None or through is None:
        return
    node = evaluate(through, scope, names)
    pairs = _elements(node)
    if pairs is None:
        text = str(node.value) if isinstance(node.value, str) else "${for_each}"
        yield kind, Node(text, block.line, "!expression", file=block.file)
        return
    iterator = block.attributes.get("iterator")
    variable = str(evaluate(iterator, scope).value).strip("${}") if iterator else kind
    for key, value in pairs:
        one = node_of({"key": key, "value": value}, block.line, block.file)
        values = values_of(content, scope, {**names, variable: one})
        yield kind, replace(one, value=values, line=content.line)
        if not scope.limits.has_steps(block.file):
            return


def _elements(node: Node) -> list[tuple[str, Node]] | None:
    if isinstance(node.value, list) and not node.tag:
        return [(str(index), each) for index, each in enumerate(node.value)]
    return _pairs(node)

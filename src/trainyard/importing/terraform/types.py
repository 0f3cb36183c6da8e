"""Types of variables: defaults of optional attributes, and scalars in the form of their type.

https://developer.hashicorp.com/terraform/language/expressions/type-constraints
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from trainyard.importing.excess import ExcessError
from trainyard.importing.source import Node
from trainyard.importing.terraform.expressions import Scope, evaluate
from trainyard.importing.terraform.syntax import Expression, children, text_of
from trainyard.importing.terraform.values import key_text, unknown

_COLLECTIONS = ("list", "set", "map")
_FLAGS = {"true": True, "false": False}


def typed(node: Node, type_: Expression, scope: Scope) -> Node:
    """Return the value of a variable in the form of its type.

    Args:
        node: The value.
        type_: The attribute `type` of the variable.
        scope: What names in the defaults of optional attributes mean.
    """
    if isinstance(type_.tree, Node):  # JSON, where it is a text
        return node
    try:
        return _Type(type_, scope).applied(node, type_.tree)
    except ExcessError as error:
        scope.limits.report(type_.file, type_.line, error)
        return unknown("…", node.line, node.file)


@dataclass(frozen=True, slots=True)
class _Type:
    expression: Expression
    scope: Scope

    def applied(self, node: Node, tree: Any) -> Node:
        """Return a value in the form of a type; what is not known stays as it is."""
        self.scope.limits.spend(self.expression.file)
        if node.tag or node.value is None:
            return node
        name, arguments = self._parts(tree)
        if not arguments:
            return _scalar(node, name)
        if name in _COLLECTIONS and isinstance(node.value, list):
            return replace(node, value=[self.applied(each, arguments[0]) for each in node.value])
        if name in _COLLECTIONS and isinstance(node.value, dict):
            values = {key: self.applied(each, arguments[0]) for key, each in node.value.items()}
            return replace(node, value=values)
        if name == "object" and isinstance(node.value, dict):
            return replace(node, value={**node.value, **self._attributes(node.value, arguments[0])})
        return node

    def _parts(self, tree: Any) -> tuple[str, list[Any]]:
        """Return the name of a type and its arguments."""
        inner = next(children(tree)) if tree.data == "expr_term" else tree
        if inner.data != "function_call":
            return text_of(inner, self.expression.text), []
        name, *rest = children(inner)
        return str(name.children[0]), [*children(rest[0])] if rest else []

    def _attributes(self, given: Mapping[str, Node], tree: Any) -> dict[str, Node]:
        return {key: self._attribute(given.get(key), below) for key, below in self._declared(tree)}

    def _declared(self, tree: Any) -> Iterator[tuple[str, Any]]:
        inner = next(children(tree)) if tree.data == "expr_term" else tree
        for element in children(inner, "object_elem"):
            key, below = children(element)
            yield text_of(key, self.expression.text).strip('"'), below

    def _attribute(self, node: Node | None, tree: Any) -> Node:
        name, arguments = self._parts(tree)
        if name != "optional":
            arguments = [tree]
        inner, *default = arguments
        if (node is None or node.value is None) and default:
            line = default[0].meta.line
            node = evaluate(replace(self.expression, tree=default[0], line=line), self.scope)
        node = node or Node(None, tree.meta.line, file=self.expression.file)
        return self.applied(node, inner)


def _scalar(node: Node, kind: str) -> Node:
    value = node.value
    if kind == "string" and isinstance(value, int | float):
        return replace(node, value=key_text(node))
    if kind == "bool" and isinstance(value, str):
        return replace(node, value=_FLAGS.get(value, value))
    if kind == "number" and isinstance(value, str):
        with suppress(ValueError):
            return replace(node, value=float(value) if "." in value else int(value))
    return node

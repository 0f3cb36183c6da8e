"""Evaluation of Terraform expressions, as far as the files say the values.

https://developer.hashicorp.com/terraform/language/expressions
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from tools.importing.source import Node, plain
from tools.importing.terraform.files import template_at
from tools.importing.terraform.functions import OPERATORS, UncomputableError, call
from tools.importing.terraform.syntax import (
    TERMS,
    Expression,
    children,
    name_of,
    read_template,
    steps_of,
    text_of,
)
from tools.importing.terraform.texts import heredoc, unescaped
from tools.importing.terraform.values import (
    UNKNOWN,
    is_unknown,
    key_text,
    node_of,
    step,
    surely_differ,
    unknown,
)

_SPLATS = ("attr_splat", "full_splat")


class Scope(Protocol):
    """What names of an expression mean."""

    def named(self, parts: Sequence[str]) -> tuple[Node, int] | None:
        """Return the value at the first parts of a reference, and their number."""
        ...


def evaluate(expression: Expression, scope: Scope, names: Mapping[str, Node] | None = None) -> Node:
    """Return the value of an expression, with the line of its key.

    Args:
        expression: The expression.
        scope: What its names mean.
        names: Values of `each`, `count` and of the iterators of dynamic blocks.
    """
    evaluation = _Evaluation(expression, scope, dict(names or {}))
    if isinstance(expression.tree, Node):
        node = evaluation.of_json(expression.tree)
    else:
        node = evaluation.of(expression.tree)
    return replace(node, line=expression.line, file=expression.file)


@dataclass(slots=True)
class _Evaluation:
    expression: Expression
    scope: Scope
    names: dict[str, Node] = field(default_factory=dict[str, Node])

    def of_json(self, node: Node) -> Node:
        """Return a value of JSON, whose texts are templates."""
        if isinstance(node.value, dict):
            values = {key: self.of_json(each) for key, each in node.value.items()}
            return replace(node, value=values, file=self.expression.file)
        if isinstance(node.value, list):
            values = [self.of_json(each) for each in node.value]
            return replace(node, value=values, file=self.expression.file)
        if isinstance(node.value, str) and "${" in node.value:
            found = read_template(node.value, self.expression.file, node.line)
            if found is not None:
                return replace(evaluate(found, self.scope, self.names), line=node.line)
            return unknown(node.value.removeprefix("${"), node.line, self.expression.file)
        return replace(node, file=self.expression.file)

    def of(self, tree: Any) -> Node:
        """Return the value of a tree; unknown if a part that decides it is not known."""
        try:
            value = self._value(tree)
        except (UncomputableError, TypeError, ValueError, ZeroDivisionError):
            return self._unknown(tree)
        return node_of(value, tree.meta.line, self.expression.file)

    def _here(self, tree: Any) -> Node:
        """Return the value of an element, whose line is its own also if it is a reference."""
        return replace(self.of(tree), line=tree.meta.line, file=self.expression.file)

    def _unknown(self, tree: Any) -> Node:
        text = text_of(tree, self.expression.text)
        return unknown(text, tree.meta.line, self.expression.file)

    def _value(self, tree: Any) -> Any:
        kind = str(tree.data)
        if kind in TERMS or kind == "identifier":
            return self._reference(tree)
        return _READERS[kind](self, tree)

    def _known(self, tree: Any) -> Any:
        node = self.of(tree)
        if is_unknown(node):
            raise UncomputableError
        return plain(node)

    def _reference(self, tree: Any) -> Node:
        base, steps = steps_of(tree)
        if base.data == "identifier":
            node, rest = self._named(base, steps)
        else:
            node, rest = self.of(base), steps
        for number, each in enumerate(rest):
            if each.data in _SPLATS:
                return self._splat(tree, node, each, rest[number + 1 :])
            node = self._step(tree, node, each)
        return node

    def _named(self, base: Any, steps: Sequence[Any]) -> tuple[Node, Sequence[Any]]:
        first = str(base.children[0])
        if first in self.names:
            return self.names[first], steps
        parts = [first]
        for each in steps:
            if each.data != "get_attr":
                break
            parts.append(name_of(each))
        found = self.scope.named(parts)
        if found is None:
            raise UncomputableError
        node, used = found
        return node, steps[used - 1 :]

    def _step(self, whole: Any, node: Node, each: Any) -> Node:
        if each.data == "get_attr":
            key: str | int = name_of(each)
        elif each.data == "short_index":
            key = int(each.children[-1])
        else:
            index = self._known(next(children(each)))
            key = index if isinstance(index, int) else str(index)
        found = step(node, key)
        return self._unknown(whole) if found is None else found

    def _splat(self, whole: Any, node: Node, splat: Any, rest: Sequence[Any]) -> Any:
        if not isinstance(node.value, list):
            if node.tag and not isinstance(node.value, dict):
                raise UncomputableError
            values = [] if node.value is None else [node]
        else:
            values = node.value
        inner = [*children(splat), *rest]
        for each in inner:
            values = [self._step(whole, value, each) for value in values]
        return values

    def _object(self, tree: Any) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for element in children(tree, "object_elem"):
            key, value = children(element)
            node = replace(self.of(value), line=element.meta.line, file=self.expression.file)
            found[self._key(next(children(key), key))] = node
        return found

    def _key(self, tree: Any) -> str:
        inner = next(children(tree), tree)
        in_parentheses = any(str(each) == "(" for each in tree.children)
        if inner.data in ("identifier", "literal_value", "keyword") and not in_parentheses:
            return str(inner.children[0])
        return key_text(self.of(tree))

    def _string(self, tree: Any) -> Any:
        parts = [self._part(each) for each in children(tree, "string_part")]
        if len(parts) == 1 and isinstance(parts[0], Node):
            return parts[0]
        if any(isinstance(each, Node) and (each.tag or is_unknown(each)) for each in parts):
            shown = "".join(each if isinstance(each, str) else str(plain(each)) for each in parts)
            return Node(shown, tree.meta.line, UNKNOWN, file=self.expression.file)
        return "".join(each if isinstance(each, str) else key_text(each) for each in parts)

    def _part(self, tree: Any) -> str | Node:
        (part,) = tree.children
        if not hasattr(part, "data"):
            return unescaped(str(part))
        if part.data != "interpolation":
            raise UncomputableError
        return self.of(next(children(part)))

    def _conditional(self, tree: Any) -> Node:
        condition, yes, no = children(tree)
        return self.of(yes if self._known(condition) is True else no)

    def _binary(self, tree: Any) -> Any:
        left, term = children(tree)
        sign, right = children(term)
        symbol = str(sign.children[0])
        if symbol in ("&&", "||"):
            return self._logical(symbol, left, right)
        if symbol in ("==", "!=") and surely_differ(self.of(left), self.of(right)):
            return symbol == "!="
        return OPERATORS[symbol](self._known(left), self._known(right))

    def _logical(self, symbol: str, left: Any, right: Any) -> bool:
        sides = [self.of(left), self.of(right)]
        decides = symbol == "||"
        if any(each.value is decides for each in sides):
            return decides
        if any(map(is_unknown, sides)):
            raise UncomputableError
        return not decides

    def _unary(self, tree: Any) -> Any:
        value = self._known(next(children(tree)))
        return not value if str(tree.children[0]) == "!" else -value

    def _call(self, tree: Any) -> Any:
        name, *rest = children(tree)
        arguments = [self.of(each) for each in children(rest[0])] if rest else []
        if rest and any(str(each) == "..." for each in rest[0].children):
            last = arguments.pop()
            if last.tag or not isinstance(last.value, list):
                raise UncomputableError
            arguments += last.value
        function, directory = str(name.children[0]), self.expression.file.parent
        if function == "templatefile":
            return evaluate(template_at(directory, arguments[0]), self.scope, arguments[1].value)
        return call(function, arguments, directory)

    def _pairs(self, intro: Any) -> Iterator[None]:
        """Set the names of a `for` to each pair of its collection."""
        *names, collection = children(intro)
        node = self.of(collection)
        if node.tag or not isinstance(node.value, dict | list):
            raise UncomputableError
        if isinstance(node.value, dict):
            pairs = [(Node(key, node.line), node.value[key]) for key in sorted(node.value)]
        else:
            pairs = [(Node(index, node.line), each) for index, each in enumerate(node.value)]
        before = dict(self.names)
        variables = [str(name.children[0]) for name in names]
        for pair in pairs:
            self.names.update(zip(variables, pair[-len(variables) :], strict=True))
            yield
        self.names = before

    def _is_wanted(self, tree: Any) -> bool:
        return all(self._known(next(children(each))) is True for each in children(tree, "for_cond"))

    def _for_list(self, tree: Any) -> list[Node]:
        intro, value, *_ = children(tree)
        return [self.of(value) for _ in self._pairs(intro) if self._is_wanted(tree)]

    def _for_object(self, tree: Any) -> dict[str, Node]:
        intro, key, value, *_ = children(tree)
        if any(str(each) == "..." for each in tree.children):
            raise UncomputableError
        return {
            str(self._known(key)): self.of(value)
            for _ in self._pairs(intro)
            if self._is_wanted(tree)
        }


def _literal(_: _Evaluation, tree: Any) -> Any:
    return {"true": True, "false": False, "null": None}[str(tree.children[0])]


def _heredoc(evaluation: _Evaluation, tree: Any) -> Node:
    text, is_template = heredoc(str(tree.children[0]))
    tag = UNKNOWN if is_template else ""
    return Node(text, tree.meta.line, tag, file=evaluation.expression.file)


def _refuse(_: _Evaluation, tree: Any) -> Any:
    raise UncomputableError(str(tree.data))


_READERS: Mapping[str, Callable[[_Evaluation, Any], Any]] = {
    "expr_term": lambda self, tree: self.of(next(children(tree))),
    "string": _Evaluation._string,  # noqa: SLF001 - a table of the methods of this class
    "heredoc_template": _heredoc,
    "heredoc_template_trim": _heredoc,
    "template_string": _refuse,
    "int_lit": lambda _, tree: int(tree.children[0]),
    "float_lit": lambda _, tree: float(tree.children[0]),
    "literal_value": _literal,
    "tuple": lambda self, tree: [self._here(each) for each in children(tree)],
    "object": _Evaluation._object,  # noqa: SLF001
    "conditional": _Evaluation._conditional,  # noqa: SLF001
    "binary_op": _Evaluation._binary,  # noqa: SLF001
    "unary_op": _Evaluation._unary,  # noqa: SLF001
    "function_call": _Evaluation._call,  # noqa: SLF001
    "for_tuple_expr": _Evaluation._for_list,  # noqa: SLF001
    "for_object_expr": _Evaluation._for_object,  # noqa: SLF001
}
"""Readers by rule of the grammar."""

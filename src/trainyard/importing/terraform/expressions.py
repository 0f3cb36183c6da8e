"""Evaluation of Terraform expressions and blocks, as far as the files say the values.

Sources:
    https://developer.hashicorp.com/terraform/language/expressions
    https://developer.hashicorp.com/terraform/language/expressions/type-constraints
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from trainyard.importing.source import ExcessError, Node, plain
from trainyard.importing.terraform.syntax import (
    TERMS,
    Block,
    Expression,
    children,
    heredoc,
    name_of,
    read_template,
    steps_of,
    text_of,
    unescaped,
)
from trainyard.importing.terraform.values import (
    LONGEST_SHOWN,
    UNKNOWN,
    Limits,
    UncomputableError,
    allow,
    is_unknown,
    key_text,
    lengths,
    node_of,
    number,
    operated,
    shown,
    step,
    surely_differ,
    unknown,
)

_SPLATS = ("attr_splat", "full_splat")
_UNCOMPUTABLE = (
    *(UncomputableError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError),
)
"""Errors of values that are not those of the operator or function."""


class Scope(Protocol):
    """What names of an expression mean."""

    @property
    def limits(self) -> Limits:
        """What is left for the expressions."""
        ...

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
    try:
        node = evaluation.whole()
    except ExcessError as error:
        scope.limits.report(expression.file, expression.line, error)
        node = unknown("…", expression.line, expression.file)
    return replace(node, line=expression.line, file=expression.file)


@dataclass(slots=True)
class _Evaluation:
    expression: Expression
    scope: Scope
    names: dict[str, Node] = field(default_factory=dict[str, Node])
    payer: Path | None = None
    """File that the steps count for, if not that of the expression."""

    @property
    def limits(self) -> Limits:
        """What is left for the expression."""
        return self.scope.limits

    @property
    def file(self) -> Path:
        """The file that the steps count for."""
        return self.payer or self.expression.file

    def whole(self) -> Node:
        """Return the value of the expression."""
        tree = self.expression.tree
        self.limits.enter(self.file, 2)
        try:
            node = self.of_json(tree) if isinstance(tree, Node) else self.of(tree)
        finally:
            self.limits.leave(2)
        self.limits.used(self.file, node)
        return node

    def of_json(self, node: Node) -> Node:
        """Return a value of JSON, whose texts are templates."""
        self.limits.spend(self.file)
        if isinstance(node.value, dict):
            values = {key: self.of_json(each) for key, each in node.value.items()}
            return replace(node, value=values, file=self.expression.file)
        if isinstance(node.value, list):
            values = [self.of_json(each) for each in node.value]
            return replace(node, value=values, file=self.expression.file)
        if isinstance(node.value, str) and "${" in node.value:
            found = read_template(node.value, self.expression.file, node.line, self.limits)
            if found is not None:
                return replace(self._template(found, self.names), line=node.line)
            return unknown(node.value.removeprefix("${"), node.line, self.expression.file)
        return replace(node, file=self.expression.file)

    def of(self, tree: Any) -> Node:
        """Return the value of a tree; unknown if a part that decides it is not known."""
        self.limits.enter(self.file)
        try:
            node = node_of(self._value(tree), tree.meta.line, self.expression.file)
        except _UNCOMPUTABLE:
            node = self._unknown(tree)
        finally:
            self.limits.leave()
        self.limits.made(self.file, node)
        return node

    def _template(self, template: Expression, names: Mapping[str, Node]) -> Node:
        """Return the value of a template that the expression has or names."""
        node = _Evaluation(template, self.scope, dict(names), self.file).whole()
        return replace(node, line=template.line, file=template.file)

    def _here(self, tree: Any) -> Node:
        """Return the value of an element, whose line is its own also if it is a reference."""
        return replace(self.of(tree), line=tree.meta.line, file=self.expression.file)

    def _unknown(self, tree: Any) -> Node:
        text = text_of(tree, self.expression.text)
        self.limits.spend(self.file, len(text) // LONGEST_SHOWN)
        shown = f"{text[:LONGEST_SHOWN]}…" if len(text) > LONGEST_SHOWN else text
        return unknown(shown, tree.meta.line, self.expression.file)

    def _value(self, tree: Any) -> Any:
        kind = str(tree.data)
        if kind in TERMS or kind == "identifier":
            return self._reference(tree)
        return _READERS[kind](self, tree)

    def _known(self, tree: Any) -> Any:
        node = self.of(tree)
        self.limits.used(self.file, node)
        if is_unknown(node):
            raise UncomputableError
        return plain(node)

    def _reference(self, tree: Any) -> Node:
        base, steps = steps_of(tree)
        if base.data == "identifier":
            node, rest = self._named(base, steps)
        else:
            node, rest = self.of(base), steps
        for position, each in enumerate(rest):
            if each.data in _SPLATS:
                return self._splat(tree, node, each, rest[position + 1 :])
            found = self._step(node, each)
            if found is None:
                raise UncomputableError
            node = found
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

    def _step(self, node: Node, each: Any) -> Node | None:
        self.limits.spend(self.file)
        if each.data == "get_attr":
            key: str | int = name_of(each)
        elif each.data == "short_index":
            key = int(each.children[-1])
        else:
            index = self._known(next(children(each)))
            key = index if isinstance(index, int) else str(index)
        return step(node, key)

    def _splat(self, whole: Any, node: Node, splat: Any, rest: Sequence[Any]) -> Any:
        if not isinstance(node.value, list):
            if node.tag and not isinstance(node.value, dict):
                raise UncomputableError
            values = [] if node.value is None else [node]
        else:
            values = node.value
        inner = [*children(splat), *rest]
        for each in inner:
            values = [self._step(value, each) or self._unknown(whole) for value in values]
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
        nodes = [each for each in parts if isinstance(each, Node)]
        self.limits.used(self.file, *nodes)
        allow(characters=lengths(parts) + lengths([each.value for each in nodes]))
        if len(parts) == 1 and isinstance(parts[0], Node):
            return parts[0]
        if any(each.tag or is_unknown(each) for each in nodes):
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
        sides = [self.of(left), self.of(right)]
        if symbol in ("==", "!=") and surely_differ(*sides):
            return symbol == "!="
        self.limits.used(self.file, *sides)
        if any(map(is_unknown, sides)):
            raise UncomputableError
        return operated(symbol, *map(plain, sides))

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
        return not value if str(tree.children[0]) == "!" else operated("-", 0, value)

    def _call(self, tree: Any) -> Any:
        from trainyard.importing.terraform.functions import (  # 10 ms with re2
            SLOW,
            call,
            template_at,
        )

        name, *rest = children(tree)
        arguments = [self.of(each) for each in children(rest[0])] if rest else []
        if rest and any(str(each) == "..." for each in rest[0].children):
            last = arguments.pop()
            if last.tag or not isinstance(last.value, list):
                raise UncomputableError
            arguments += last.value
        function, directory = str(name.children[0]), self.expression.file.parent
        for _ in range(SLOW.get(function, 1)):
            self.limits.used(self.file, *arguments)
        if function == "templatefile":
            path, values = arguments
            return self._template(template_at(directory, path, self.limits), values.value)
        return call(function, arguments, directory, partial(self.limits.spend, self.file))

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
        variables = [str(name.children[0]) for name in names]
        before = {name: self.names[name] for name in variables if name in self.names}
        for pair in pairs:
            self.names.update(zip(variables, pair[-len(variables) :], strict=True))
            yield
        for name in variables:
            self.names.pop(name, None)
        self.names |= before

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
    "int_lit": lambda _, tree: number(int(tree.children[0])),
    "float_lit": lambda _, tree: number(float(tree.children[0])),
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


_AS_TEXT = ("depends_on", "providers", "provider", "ignore_changes")
"""Attributes that name other blocks instead of having values."""
_TYPE = ("variable", "type")
"""Block and attribute of a type, which is no value."""
_MOST = 64
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
            for index in range(min(int(number), _MOST)):
                yield f"[{index}]", {"count": node_of({"index": index}, block.line, block.file)}
            return
    elif each is not None:
        pairs = _pairs(evaluate(each, scope))
        if pairs is not None:
            for key, value in pairs[:_MOST]:
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
        else shown(evaluate(expression, scope, names or {}))
        for key, expression in block.attributes.items()
    }
    scope.limits.count(block.file)
    for below in block.blocks:
        for kind, node in _nested(below, scope, names or {}):
            listed = values.setdefault(kind, Node([], node.line, file=node.file))
            if isinstance(listed.value, list):
                listed.value.append(node)
    return values


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

"""Functions of the Terraform language that need nothing but their arguments.

https://developer.hashicorp.com/terraform/language/functions
"""

from __future__ import annotations

import base64
import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import indent
from typing import Any

import yaml

from tools.importing.source import Node, plain
from tools.importing.terraform.addresses import OF_ADDRESSES
from tools.importing.terraform.files import OF_FILES
from tools.importing.terraform.values import JSON, UNKNOWN, is_unknown, key_text, step

OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda left, right: left / right if left % right else left // right,
    "%": operator.mod,
}
"""Operators of values that must be known."""


class UncomputableError(Exception):
    """The arguments of a function are not known, or the program does not have the function."""


def call(name: str, arguments: Sequence[Node], directory: Path) -> Any:
    """Return the result of a function, which may hold the nodes of its arguments.

    Args:
        name: Name of the function.
        arguments: Its arguments.
        directory: Directory of the module, to which paths are relative.

    Raises:
        UncomputableError: the arguments are not known, or the function is not one of these.
    """
    try:
        if name in _OF_COLLECTIONS:
            return _OF_COLLECTIONS[name](*arguments)
        if not any(map(is_unknown, arguments)):
            if name in OF_FILES:
                return OF_FILES[name](directory, *map(plain, arguments))
            return _OF_VALUES[name](*map(plain, arguments))
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise UncomputableError(name) from error
    raise UncomputableError(name)


def _list(node: Node) -> list[Node]:
    if not isinstance(node.value, list) or node.tag:
        raise UncomputableError
    return node.value


def _dict(node: Node) -> dict[str, Node]:
    if not isinstance(node.value, dict) or node.tag:
        raise UncomputableError
    return node.value


def _values(node: Node) -> list[Node]:
    """Return the elements of a list; those of a mapping in the order of its keys."""
    if isinstance(node.value, dict):
        mapping = _dict(node)
        return [mapping[key] for key in sorted(mapping)]
    return _list(node)


def _merge(*nodes: Node) -> dict[str, Node]:
    merged: dict[str, Node] = {}
    for node in nodes:
        if node.value is not None:
            merged |= _dict(node)
    return merged


def _concat(*nodes: Node) -> list[Node]:
    return [each for node in nodes for each in _list(node)]


def _flat(node: Node) -> Iterator[Node]:
    for each in _list(node):
        if isinstance(each.value, list):
            yield from _flat(each)
        else:
            yield each


def _slice(node: Node, start: Node, end: Node) -> list[Node]:
    if not isinstance(node.value, list):
        raise UncomputableError
    return node.value[int(start.value) : int(end.value)]


def _element(node: Node, index: Node) -> Node:
    if not isinstance(node.value, list):
        raise UncomputableError
    return node.value[int(index.value) % len(node.value)]


def _lookup(node: Node, key: Node, *default: Node) -> Node:
    found = step(node, key_text(key)) if not is_unknown(key) else None
    if found is not None:
        return found
    _dict(node)
    return default[0]


def _first(*nodes: Node) -> Node:
    """`try` and `coalesce`: an argument that is not known may be any value."""
    for node in nodes:
        if node.tag:
            raise UncomputableError
        if node.value not in (None, ""):
            return node
    return nodes[-1]


def _first_list(*nodes: Node) -> Node:
    found = [node for node in nodes if _length(node)]
    return found[0]


def _try(*nodes: Node) -> Node:
    known = [node for node in nodes if not node.tag]
    if not known:
        raise UncomputableError
    return known[0]


def _distinct(node: Node) -> list[Node]:
    return list({json.dumps(plain(each)): each for each in reversed(_list(node))}.values())[::-1]


def _length(node: Node) -> int:
    if node.tag:
        raise UncomputableError
    return len(node.value)


def _zipmap(keys: Node, values: Node) -> dict[str, Node]:
    return {str(plain(key)): each for key, each in zip(_list(keys), _list(values), strict=True)}


def _jsonencode(node: Node) -> Node:
    if node.tag or not isinstance(node.value, dict | list):
        raise UncomputableError
    return replace(node, tag=JSON)


def _base64encode(node: Node) -> Node:
    """Return the text itself, which says more than its encoding, as one that is not known."""
    if not isinstance(node.value, str) or node.value.startswith("${"):
        raise UncomputableError
    return replace(node, tag=UNKNOWN)


_OF_COLLECTIONS: Mapping[str, Callable[..., Any]] = {
    "merge": _merge,
    "concat": _concat,
    "flatten": lambda node: list(_flat(node)),
    "slice": _slice,
    "element": _element,
    "lookup": _lookup,
    "values": _values,
    "keys": lambda node: sorted(_dict(node)),
    "tolist": _list,
    "toset": _distinct,
    "tomap": _dict,
    "distinct": _distinct,
    "compact": lambda node: [each for each in _list(node) if each.value not in (None, "")],
    "coalesce": _first,
    "coalescelist": _first_list,
    "try": _try,
    "length": _length,
    "reverse": lambda node: _list(node)[::-1],
    "zipmap": _zipmap,
    "one": lambda node: _list(node)[0] if _list(node) else None,
    "nonsensitive": lambda node: node,
    "jsonencode": _jsonencode,
    "base64encode": _base64encode,
}
"""Functions of lists and mappings whose elements need not be known."""


def _format(pattern: str, *values: Any) -> str:
    return re.sub(r"%(\d*)v", r"%\1s", pattern) % values


def _replace(text: str, part: str, new: str) -> str:
    if len(part) > 1 and part[0] == part[-1] == "/":
        return re.sub(part[1:-1], new, text)
    return text.replace(part, new)


def _tobool(value: Any) -> bool:
    return {"true": True, "false": False, True: True, False: False}[value]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_OF_VALUES: Mapping[str, Callable[..., Any]] = {
    **OF_ADDRESSES,
    "basename": lambda path: path.rstrip("/").rpartition("/")[2],
    "format": _format,
    "join": lambda separator, *lists: separator.join(
        _text(each) for values in lists for each in values
    ),
    "split": lambda separator, text: text.split(separator),
    "lower": str.lower,
    "upper": str.upper,
    "title": str.title,
    "trimspace": str.strip,
    "trimprefix": str.removeprefix,
    "trimsuffix": str.removesuffix,
    "trim": str.strip,
    "substr": lambda text, at, length: text[at:] if length < 0 else text[at : at + length],
    "replace": _replace,
    "startswith": str.startswith,
    "endswith": str.endswith,
    "contains": lambda values, value: value in values,
    "index": lambda values, value: values.index(value),
    "range": lambda *numbers: list(range(*numbers)),
    "max": max,
    "min": min,
    "sum": sum,
    "abs": abs,
    "sort": sorted,
    "tostring": lambda value: None if value is None else _text(value),
    "tonumber": lambda value: float(value) if "." in str(value) else int(value),
    "tobool": _tobool,
    "jsondecode": json.loads,
    "yamlencode": lambda value: yaml.safe_dump(value, sort_keys=True),
    "base64decode": lambda text: base64.b64decode(text, validate=True).decode("utf-8"),
    "indent": lambda spaces, text: indent(text, " " * spaces).lstrip(" "),
    "chomp": lambda text: text.rstrip("\r\n"),
    "dirname": lambda path: path.rstrip("/").rpartition("/")[0] or ".",
    "alltrue": all,
    "anytrue": any,
    "can": lambda value: True,
    "strcontains": lambda text, part: part in text,
    "ceil": math.ceil,
    "floor": math.floor,
    "setsubtract": lambda values, others: [each for each in values if each not in others],
    "setunion": lambda *lists: list(dict.fromkeys(each for values in lists for each in values)),
    "setintersection": lambda values, *lists: [
        each for each in values if all(each in others for others in lists)
    ],
    "setproduct": lambda *lists: [list(each) for each in _product(lists)],
}
"""Functions of values that must be known."""


def _product(lists: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    if not lists:
        yield ()
        return
    for first in lists[0]:
        for rest in _product(lists[1:]):
            yield (first, *rest)

"""Functions of the Terraform language.

https://developer.hashicorp.com/terraform/language/functions
"""

from __future__ import annotations

import base64
import ipaddress
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from textwrap import indent
from typing import Any

import re2
import yaml

from trainyard.importing.reading import node_of_json
from trainyard.importing.source import ExcessError, Node, plain
from trainyard.importing.terraform.syntax import Expression, read_template
from trainyard.importing.terraform.values import (
    JSON,
    UNKNOWN,
    Limits,
    UncomputableError,
    allow,
    is_unknown,
    key_text,
    lengths,
    number,
    step,
    tonumber,
)
from trainyard.stack_files.yaml_limits import Excess, UnreadableYamlError, readable_text


def _cidrsubnet(prefix: str, bits: int, number: int) -> str:
    network = ipaddress.ip_network(prefix, strict=False)
    length = _length_of_prefix(network, bits)
    size = 1 << (network.max_prefixlen - length)
    first = network.network_address + int(number) * size
    found = ipaddress.ip_network((int(first), length))
    if not 0 <= number < 1 << int(bits):
        raise ValueError(number)
    return str(found)


def _cidrsubnets(prefix: str, *bits: int) -> list[str]:
    network = ipaddress.ip_network(prefix, strict=False)
    at, found = int(network.network_address), []
    for each in bits:
        length = _length_of_prefix(network, each)
        size = 1 << (network.max_prefixlen - length)
        at = -(-at // size) * size
        found.append(str(ipaddress.ip_network((at, length))))
        at += size
    return found


def _length_of_prefix(network: ipaddress.IPv4Network | ipaddress.IPv6Network, bits: int) -> int:
    """Return the length of the prefix of a part of a network."""
    length = network.prefixlen + int(bits)
    if not network.prefixlen <= length <= network.max_prefixlen:
        raise ValueError(bits)
    return length


_OF_ADDRESSES: Mapping[str, Callable[..., Any]] = {
    "cidrsubnet": _cidrsubnet,
    "cidrsubnets": _cidrsubnets,
    "cidrhost": lambda prefix, number: str(ipaddress.ip_network(prefix)[number]),
}
"""Functions of values that must be known."""


_MOST_FILES = 200
# libyaml is several times faster, but not every PyYAML build has it.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def template_at(directory: Path, path: Node, limits: Limits) -> Expression:
    """Return the expression of the template in a file, which `templatefile` evaluates.

    Raises:
        ExcessError: it exceeds a limit.
        ValueError: the path is not known, or the file cannot be read.
    """
    text = "" if is_unknown(path) else _text_of_file(directory, str(plain(path)))
    found = read_template(text, directory / str(plain(path)), 1, limits) if text else None
    if found is None:
        raise ValueError(path.value)
    return found


def _place(directory: Path, path: str) -> Path:
    """Return the path of a file near the module; others are not part of a configuration."""
    found = (directory / path).resolve()
    if not found.is_relative_to(directory.resolve().parent.parent):
        raise ValueError(path)
    return found


def _text_of_file(directory: Path, path: str) -> str:
    try:
        return readable_text(_place(directory, path))
    except UnreadableYamlError as error:
        raise ValueError(path) from error


def _set(directory: Path, path: str, pattern: str) -> list[str]:
    place = _place(directory, path)
    found = [each for each in place.glob(pattern) if each.is_file()] if place.is_dir() else []
    if not found or len(found) > _MOST_FILES:
        raise ValueError(path)  # without files, they may be made before Terraform runs
    return sorted(str(each.relative_to(place)) for each in found)


def _yaml(directory: Path, text: str) -> Any:
    try:
        Excess(directory, tags=True).refuse(text)
    except UnreadableYamlError as error:
        raise ExcessError(
            "a `yamldecode` has a text that is nested too deeply, or has too many values or a key "
            "twice"
        ) from error
    except yaml.YAMLError as error:
        raise ValueError(text) from error
    return yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe one, also if it is that of libyaml


_OF_FILES: Mapping[str, Callable[..., Any]] = {
    "file": _text_of_file,
    "fileexists": lambda directory, path: _place(directory, path).is_file(),
    "fileset": _set,
    "yamldecode": _yaml,
}
"""Functions of the directory of the module and of values that must be known."""


_VERB = re.compile(r"%[-+# 0]*(?P<width>\d*)(?:\.(?P<precision>\d*))?(?P<letter>.)?")
"""A verb of `format` with its width and precision: `cty/function/stdlib/format.go` of go-cty."""
_VERB_V = re.compile(r"%(\d*)v")
_GROUP = re.compile(r"\$(?:\$|\{(?P<braced>\w+)\}|(?P<plain>\w+))", re.ASCII)
_MOST_OF_RANGE = 1_024
"""Maximum number of values of `range`: `cty/function/stdlib/sequence.go` of go-cty."""
_WIDEST = 1_000
"""Maximum width and precision of a verb in `format`."""
_MATCHING_OF_STEP = 10_000
"""Instructions of a regular expression times characters of the text that are one step."""
SLOW: Mapping[str, int] = {"jsondecode": 5, "yamldecode": 10, "yamlencode": 10}
"""Functions that take longer than others for the same arguments, and how many times longer."""


Spend = Callable[[int], None]
"""Counts a number of steps; raises `ExcessError` if none are left."""


def call(name: str, arguments: Sequence[Node], directory: Path, spend: Spend) -> Any:
    """Return the result of a function, which may hold the nodes of its arguments.

    Args:
        name: Name of the function.
        arguments: Its arguments.
        directory: Directory of the module, to which paths are relative.
        spend: Counts steps in addition to those for the arguments.

    Raises:
        ExcessError: the result would be too large.
        UncomputableError: the arguments are not known, or the function is not one of these.
    """
    try:
        if name in _OF_COLLECTIONS:
            return _OF_COLLECTIONS[name](*arguments)
        if not any(map(is_unknown, arguments)):
            if name in _OF_FILES:
                return _OF_FILES[name](directory, *map(plain, arguments))
            if name == "replace":
                return _replace(spend, *map(plain, arguments))
            return _OF_VALUES[name](*map(plain, arguments))
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError) as error:
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
    allow(values=sum(len(_list(node)) for node in nodes))
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
    """Return a text with values; none with a collection, which Terraform writes as JSON."""
    if any(isinstance(each, dict | list) for each in values):
        raise UncomputableError
    verbs = list(_VERB.finditer(pattern))
    if any(verb["letter"] == "*" for verb in verbs):
        raise UncomputableError  # only Python has it
    sizes = [int(verb[name]) for verb in verbs for name in ("width", "precision") if verb[name]]
    if any(size > _WIDEST for size in sizes):
        raise ExcessError(f"a `format` has a width or precision of more than {_WIDEST}")
    allow(characters=len(pattern) + sum(sizes) + lengths(values))
    return _VERB_V.sub(r"%\1s", pattern) % values


def _replace(spend: Spend, text: str, part: str, new: str) -> str:
    if len(part) > 1 and part[0] == part[-1] == "/":
        return _replace_matches(spend, text, part[1:-1], new)
    allow(characters=len(text) + text.count(part) * len(new))
    return text.replace(part, new)


def _replace_matches(spend: Spend, text: str, pattern: str, new: str) -> str:
    """Return a text with each match replaced, as `ReplaceAllString` of the package `regexp` of Go.

    RE2 has the syntax of that package, and needs time in proportion to the text for each match.
    """
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        raise UncomputableError(pattern) from error
    parts: list[str] = []
    end = characters = 0
    for match in compiled.finditer(text):
        parts += [text[end : match.start()], _expanded(new, match)]
        end = match.end()
        characters += lengths(parts[-2:])
        allow(characters=characters)
        spend(1 + compiled.programsize * len(text) // _MATCHING_OF_STEP)
    return "".join([*parts, text[end:]])


def _expanded(template: str, match: Any) -> str:
    """Return a replacement with the groups that `$1` and `${name}` name: `Expand` in Go."""

    def group(name: re.Match[str]) -> str:
        key = name["braced"] or name["plain"]
        if key is None:
            return "$"
        try:
            return match[int(key) if key.isdigit() else key] or ""
        except (LookupError, ValueError):
            return ""

    return _GROUP.sub(group, template)


def _join(separator: str, *lists: list[Any]) -> str:
    texts = [_text(each) for values in lists for each in values]
    allow(characters=lengths(texts) + len(separator) * len(texts))
    return separator.join(texts)


def _split(separator: str, text: str) -> list[str]:
    allow(values=text.count(separator))
    return text.split(separator)


def _indent(spaces: int, text: str) -> str:
    allow(characters=len(text) + (text.count("\n") + 1) * spaces)
    return indent(text, " " * spaces).lstrip(" ")


def _range(*numbers: Any) -> list[int]:
    values = range(*numbers)
    if values[_MOST_OF_RANGE:]:
        raise ExcessError(f"a `range` has more than {_MOST_OF_RANGE} values, which is all it can")
    return list(values)


def _jsondecode(text: str) -> Any:
    try:
        return plain(node_of_json(text, Path()))
    except UnreadableYamlError as error:
        raise ExcessError(
            "a `jsondecode` has a text that is nested too deeply, or has too many values or a key "
            "twice"
        ) from error


def _unique(*lists: list[Any]) -> list[Any]:
    """Return the values of lists, each once and in order; values can be collections."""
    return list({_key(each): each for values in lists[::-1] for each in values[::-1]}.values())[
        ::-1
    ]


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _keys(values: list[Any]) -> set[str]:
    return set(map(_key, values))


def _setsubtract(values: list[Any], others: list[Any]) -> list[Any]:
    found = _keys(others)
    return [each for each in values if _key(each) not in found]


def _setintersection(values: list[Any], *lists: list[Any]) -> list[Any]:
    found = [_keys(each) for each in lists]
    return [each for each in values if all(_key(each) in keys for keys in found)]


def _setproduct(*lists: list[Any]) -> list[list[Any]]:
    allow(values=math.prod(map(len, lists)) * len(lists))
    return [list(each) for each in product(*lists)]


def _tobool(value: Any) -> bool:
    return {"true": True, "false": False, True: True, False: False}[value]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_OF_VALUES: Mapping[str, Callable[..., Any]] = {
    **_OF_ADDRESSES,
    "basename": lambda path: path.rstrip("/").rpartition("/")[2],
    "format": _format,
    "join": _join,
    "split": _split,
    "lower": str.lower,
    "upper": str.upper,
    "title": str.title,
    "trimspace": str.strip,
    "trimprefix": str.removeprefix,
    "trimsuffix": str.removesuffix,
    "trim": str.strip,
    "substr": lambda text, at, length: text[at:] if length < 0 else text[at : at + length],
    "startswith": str.startswith,
    "endswith": str.endswith,
    "contains": lambda values, value: value in values,
    "index": lambda values, value: values.index(value),
    "range": _range,
    "max": max,
    "min": min,
    "sum": lambda values: number(sum(values)),
    "abs": abs,
    "sort": sorted,
    "tostring": lambda value: None if value is None else _text(value),
    "tonumber": tonumber,
    "tobool": _tobool,
    "jsondecode": _jsondecode,
    "yamlencode": lambda value: yaml.safe_dump(value, sort_keys=True),
    "base64decode": lambda text: base64.b64decode(text, validate=True).decode("utf-8"),
    "indent": _indent,
    "chomp": lambda text: text.rstrip("\r\n"),
    "dirname": lambda path: path.rstrip("/").rpartition("/")[0] or ".",
    "alltrue": all,
    "anytrue": any,
    "can": lambda value: True,
    "strcontains": lambda text, part: part in text,
    "ceil": math.ceil,
    "floor": math.floor,
    "setsubtract": _setsubtract,
    "setunion": _unique,
    "setintersection": _setintersection,
    "setproduct": _setproduct,
}
"""Functions of values that must be known."""

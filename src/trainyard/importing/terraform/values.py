"""Values of Terraform expressions, known or not, and the limits of what expressions make.

Files may be untrusted, and are read in a process that is not protected otherwise: seven kilobytes
of `locals` can ask for terabytes, as each is ten times the one before. What exceeds a limit is a
problem of that file.
"""

from __future__ import annotations

import json
import math
import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from trainyard.importing.report import Reader
from trainyard.importing.source import ExcessError, FileProblem, Node, child, plain
from trainyard.stack_files.yaml_limits import DEEPEST, LARGEST_BYTES, MOST_NODES

_MOST_TOKENS = 50_000
"""Maximum number of tokens of a file, which has about 300 kB then. The parser, in Python, reads
60,000 in a second and makes a kilobyte of each."""
_MOST_TOKENS_OF_ALL = 120_000
"""Maximum number of tokens of all files and templates; the smallest files are read first."""
_MOST_STEPS = 50_000
"""Maximum number of steps for the expressions of a file: each part of an expression, each value
that a function reads or makes, and each 200 characters of a text are one."""
_MOST_STEPS_OF_ALL = 150_000
"""Maximum number of steps for all files of a directory and its modules."""
_LEAST_STEPS = 1_000
"""Steps that a file always has, whatever the others take."""
_DEEPEST_EVALUATION = 120
"""Maximum nesting of parts of expressions in each other, also through names: `local.a` counts two
more than what it is, as it takes more of the stack of Python, which has room for 1,000 calls."""
LONGEST_SHOWN = 1_000
"""Maximum number of characters that are shown of an expression that is not evaluated."""
_CHARACTERS_OF_STEP = 200
_STEPS_OF_BLOCK = 5


class _Size(NamedTuple):
    """The size of a value; what it has several times counts several times."""

    values: int = 1
    characters: int = 0
    depth: int = 0

    @property
    def steps(self) -> int:
        """The steps of a function that reads the value."""
        return self.values + self.characters // _CHARACTERS_OF_STEP


@dataclass(slots=True)
class Limits:
    """What is left for the files of one directory and its modules, and the problems so far."""

    problems: list[FileProblem] = field(default_factory=list[FileProblem])
    _tokens: int = 0
    _steps: Counter[Path] = field(default_factory=Counter[Path])
    _steps_of_all: int = 0
    _depth: int = 0
    _sizes: dict[int, tuple[Any, _Size]] = field(default_factory=dict[int, tuple[Any, _Size]])
    """Sizes of collections by their identity, with the collection, so that it stays."""
    _reported: set[tuple[Path, str]] = field(default_factory=set[tuple[Path, str]])

    def report(self, file: Path, line: int, error: ExcessError) -> None:
        """Record that a line of a file exceeds a limit, the first line for each limit."""
        if (file, str(error)) not in self._reported:
            self._reported.add((file, str(error)))
            message = f"{file}, line {line}: {error}; simplify it and retry"
            self.problems.append(FileProblem(file, message))

    def token(self, number: int) -> None:
        """Count a token, which is the one with this number in its text."""
        self._tokens += 1
        if number > _MOST_TOKENS:
            raise ExcessError(f"has more than {_MOST_TOKENS} tokens")
        if self._tokens > _MOST_TOKENS_OF_ALL:
            raise ExcessError(
                f"cannot be read: with smaller files here it has more than {_MOST_TOKENS_OF_ALL} "
                "tokens"
            )

    def has_steps(self, file: Path) -> bool:
        """Return whether expressions of a file can still be evaluated."""
        used = self._steps[file]
        is_left = used <= _LEAST_STEPS or self._steps_of_all <= _MOST_STEPS_OF_ALL
        return used <= _MOST_STEPS and is_left

    def count(self, file: Path) -> None:
        """Count a block, which takes time even if it has no expression."""
        self._steps[file] += _STEPS_OF_BLOCK
        self._steps_of_all += _STEPS_OF_BLOCK

    def spend(self, file: Path, steps: int = 1) -> None:
        """Count steps of the expressions of a file."""
        self._steps[file] += steps
        self._steps_of_all += steps
        if not self.has_steps(file):
            raise ExcessError(
                "the expressions of the file take too long to evaluate (more than "
                f"{_MOST_STEPS} steps, or {_MOST_STEPS_OF_ALL} with other files)"
            )

    def enter(self, file: Path, levels: int = 1) -> None:
        """Go into a part of an expression; `leave` is to follow."""
        self.spend(file)
        if self._depth + levels > _DEEPEST_EVALUATION:
            raise ExcessError(
                f"an expression is nested too deeply (more than {_DEEPEST_EVALUATION // 2} levels "
                "with what it refers to)"
            )
        self._depth += levels

    def leave(self, levels: int = 1) -> None:
        """Go out of a part of an expression."""
        self._depth -= levels

    def made(self, file: Path, node: Node) -> None:
        """Count a value that an expression has made."""
        size = self._size(node.value, file)
        if size.characters > LARGEST_BYTES or size.values > MOST_NODES or size.depth > DEEPEST:
            raise _too_large()
        if isinstance(node.value, str):
            self.spend(file, len(node.value) // _CHARACTERS_OF_STEP)

    def used(self, file: Path, *nodes: Node) -> None:
        """Count the values that a function is about to read."""
        for each in nodes:
            self.spend(file, self._size(each.value, file).steps)

    def _size(self, value: Any, file: Path) -> _Size:
        if isinstance(value, str):
            return _Size(characters=len(value))
        if not isinstance(value, dict | list):
            return _Size()
        known = self._sizes.get(id(value))
        if known is not None:
            return known[1]
        is_dict = isinstance(value, dict)
        self.spend(file, len(value))
        parts = [self._size(node.value, file) for node in (value.values() if is_dict else value)]
        size = _Size(
            1 + sum(part.values for part in parts),
            sum(part.characters for part in parts) + (sum(map(len, value)) if is_dict else 0),
            1 + max((part.depth for part in parts), default=0),
        )
        self._sizes[id(value)] = (value, size)
        return size


def allow(*, characters: int = 0, values: int = 0) -> None:
    """Check the size of a value before it is made.

    Raises:
        ExcessError: it would be too large.
    """
    if characters > LARGEST_BYTES or values > MOST_NODES:
        raise _too_large()


def _too_large() -> ExcessError:
    return ExcessError(
        f"an expression makes a value of more than {LARGEST_BYTES} characters, {MOST_NODES} "
        f"values or {DEEPEST} levels"
    )


def lengths(values: Sequence[Any]) -> int:
    """Return the number of characters of plain scalars as text; collections count one."""
    return sum(len(each) if isinstance(each, str) else 1 for each in values)


UNKNOWN = "!expression"
"""Tag of a value that is not in the files; its text is the expression."""
JSON = "!json"
"""Tag of the argument of `jsonencode`, whose text is known if all of it is."""
_OBJECT = "!object "
"""Begin of the tag of a module or a resource; its address follows."""
_EQUALITY: Mapping[str, Callable[[Any, Any], bool]] = {"==": operator.eq, "!=": operator.ne}
_OF_NUMBERS: Mapping[str, Callable[[Any, Any], Any]] = {
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
_BITS = 512
"""Precision of numbers of Terraform: `cty/primitive_type.go` of go-cty."""


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


class UncomputableError(Exception):
    """The arguments of a function are not known, or the program does not have the function."""


def operated(symbol: str, left: Any, right: Any) -> Any:
    """Return the result of an operator for known values."""
    if symbol in _EQUALITY:
        return _EQUALITY[symbol](left, right)
    return number(_OF_NUMBERS[symbol](number(left), number(right)))


def number(value: Any) -> Any:
    """Return a number, which has a range that Terraform represents; or the result of `<`."""
    if isinstance(value, str):
        value = tonumber(value)
    if isinstance(value, int) and value.bit_length() <= _BITS:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise UncomputableError(value if isinstance(value, float) else "")


def tonumber(value: Any) -> Any:
    """Return a text as the number that it is."""
    text = str(value)
    return float(text) if any(each in text for each in ".eE") else int(text)

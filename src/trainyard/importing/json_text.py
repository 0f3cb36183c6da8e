"""Read JSON with the line of every value, as YAML is read, in a fourth of the time.

A plan of Terraform with one node group has half a megabyte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainyard.importing.source import Node
from trainyard.stack_files.yaml_limits import DEEPEST, UnreadableYamlError, unreadable

_MARK = re.compile(r'[{}\[\]]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}\[\],:"]+', re.DOTALL)
"""Brackets and scalars. Of a text that is JSON, commas and colons say nothing more."""

MOST_JSON_VALUES = 1_000_000
"""Maximum number of values and keys, of which each takes 150 bytes; a plan of Terraform has 25,000
for each node group of the EKS module."""
_MOST_DIGITS = 1_000


@dataclass(slots=True)
class _Collection:
    """A mapping or a list that is being read."""

    values: Any
    line: int
    key: str | None = None
    """Key of a mapping whose value comes next."""
    key_line: int = 0

    def add(self, value: Any, line: int) -> None:
        """Add a value, which has the line of its key."""
        if self.key is None:
            self.values.append(Node(value, line))
        else:
            self.values[self.key] = Node(value, self.key_line)
            self.key = None


def node_of_json(text: str, path: Path) -> Node:
    """Return the value of a JSON text; messages name the path.

    Raises:
        json.JSONDecodeError: the text is not JSON.
        UnreadableYamlError: it is nested too deeply, or has a key twice.
    """
    _check(text, path)  # Now the order of the marks needs no check.
    root = _Collection([], 1)
    opened = [root]
    for mark, line in _marks(text):
        inside = opened[-1]
        if mark in "{[":
            opened.append(_Collection({} if mark == "{" else [], line))
            if len(opened) > DEEPEST:
                raise _too_deep(path, line)
        elif mark in "}]":
            done = opened.pop()
            opened[-1].add(done.values, done.line)
        elif isinstance(inside.values, dict) and inside.key is None:
            inside.key, inside.key_line = _scalar(mark), line
            if inside.key in inside.values:
                raise unreadable(path, line, f"the key {inside.key!r} is there twice")
        else:
            inside.add(_scalar(mark), line)
    (value,) = root.values
    return value


def _check(text: str, path: Path) -> None:
    if sum(map(text.count, ",:[{")) > MOST_JSON_VALUES * 2:
        raise unreadable(path, None, f"it has more than {MOST_JSON_VALUES} values")
    try:
        json.loads(text, parse_int=_whole, parse_constant=_refused)
    except RecursionError as error:  # the only limit of nesting that its C code has
        raise _too_deep(path, None) from error


def _marks(text: str) -> Iterator[tuple[str, int]]:
    """Yield each mark with its line, counted from 1."""
    line, position = 1, 0
    for match in _MARK.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        yield match[0], line


def _scalar(mark: str) -> Any:
    is_plain = mark[0] == '"' and "\\" not in mark
    return mark[1:-1] if is_plain else json.loads(mark, parse_int=_whole)


def _whole(digits: str) -> int | str:
    """Return a whole number; the text of one that Python does not convert."""
    return int(digits) if len(digits) <= _MOST_DIGITS else digits


def _refused(constant: str) -> Any:
    raise json.JSONDecodeError(f"{constant} is not JSON", constant, 0)


def _too_deep(path: Path, line: int | None) -> UnreadableYamlError:
    return unreadable(path, line, f"it is nested more than {DEEPEST} levels deep")

"""The text of a stack file as a tree of keys with their comments, which can be edited.

The shipped examples are the only source of the comments in a new stack file. They use a part of
YAML: block mappings, block sequences, and scalars or flow collections on one line. A round-trip
parser attaches a comment to the token before it, so that a removed key takes the comment of the
next one with it. Here a comment belongs to the key below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from trainyard.stack_files.yaml_reader import yaml_text

_KEY = re.compile(r"(?P<indent> *)(?P<key>[^\s#'\"\[{-][^\s]*?):(?: (?P<value>.*))?$")
STEP = 2
"""Spaces of one level."""


@dataclass(slots=True)
class TextEntry:
    """A key, the comments above it, and its value."""

    key: str
    value: str = ""
    """Text after the colon; empty for a mapping or a block sequence."""
    comments: list[str] = field(default_factory=list[str])
    """Lines above the key without indentation; an empty line is empty text."""
    children: list[TextEntry] = field(default_factory=list["TextEntry"])
    items: list[str] = field(default_factory=list[str])
    """Lines of a block sequence, indented relative to the key."""
    tail: list[str] = field(default_factory=list[str])
    """Comments after the last child."""

    def child(self, key: str) -> TextEntry | None:
        """Return the child of this key, or None."""
        return next((each for each in self.children if each.key == key), None)

    def at(self, *path: str) -> TextEntry | None:
        """Return the entry at a path below this one, or None."""
        found: TextEntry | None = self
        for key in path:
            found = found.child(key) if found is not None else None
        return found

    def walk(self) -> Iterator[TextEntry]:
        """Yield this entry and all entries below it."""
        yield self
        for each in self.children:
            yield from each.walk()

    def copy(self) -> TextEntry:
        """Return a copy that can be changed independently."""
        return deepcopy(self)

    def remove(self, key: str) -> None:
        """Remove a child with its comments, if it exists."""
        self.children = [each for each in self.children if each.key != key]

    def set(self, key: str, value: Any, *, after: str = "", comment: str = "") -> TextEntry:
        """Set a child to a scalar or a list, and return it.

        The comment of a child whose value changes is removed, because it describes the old value.

        Args:
            key: Key of the child.
            value: A scalar or a list of scalars.
            after: The key below which a new child is inserted; by default, the last one.
            comment: Comment of the child, instead of the one that it has.
        """
        found = self.child(key)
        if found is None:
            found = TextEntry(key)
            self.insert(found, after=after)
        value_text, items = _written(value)
        if (found.value, found.items) != (value_text, items) or found.children:
            found.set_comment(comment)
        found.value, found.items, found.children = value_text, items, []
        return found

    def insert(self, entry: TextEntry, *, after: str = "") -> None:
        """Insert a child below the child `after`, or as the last one."""
        keys = [each.key for each in self.children]
        place = keys.index(after) + 1 if after in keys else len(keys)
        self.children.insert(place, entry)

    def replace(self, entry: TextEntry) -> None:
        """Put an entry in the place of the child with the same key, or after the last child."""
        keys = [each.key for each in self.children]
        if entry.key not in keys:
            self.children.append(entry)
            return
        place = keys.index(entry.key)
        gap = self.children[place].comments[:1] == [""] and entry.comments[:1] != [""]
        entry.comments = [""] * gap + entry.comments
        self.children[place] = entry

    def set_comment(self, comment: str = "") -> None:
        """Replace the comments above the entry; empty lines at the top stay."""
        gap = self.comments[:1] == [""]
        self.comments = [""] * gap + [f"# {line}" for line in comment.splitlines()]

    def remove_comments(self) -> None:
        """Remove all comments in the entry, except those above it."""
        for each in self.walk():
            if each is not self:
                each.set_comment()
            each.tail = []
            each.items = [line for line in each.items if not line.lstrip().startswith("#")]


def parsed(text: str) -> TextEntry:
    """Return the tree of a stack file: an entry without a key, whose children are the top level.

    Raises:
        ValueError: a line is of a form that this module does not support.
    """
    root = TextEntry("")
    lines = text.splitlines()
    end = _parse_block(lines, 0, 0, root)
    root.tail += [line.strip() for line in lines[end:]]
    return root


def rendered(root: TextEntry) -> str:
    """Return the text of a tree."""
    lines = [line for child in root.children for line in _lines(child, 0)]
    return "\n".join([*lines, *root.tail]).rstrip("\n") + "\n"


def entry_of(key: str, value: Any) -> TextEntry:
    """Return an entry for a value: a mapping, a list of scalars, or a scalar."""
    if isinstance(value, dict) and value:
        return TextEntry(key, children=[entry_of(str(name), each) for name, each in value.items()])
    text, items = _written(value)
    return TextEntry(key, text, items=items)


def _written(value: Any) -> tuple[str, list[str]]:
    """Return the text of a scalar, or the lines of a list."""
    if isinstance(value, list | tuple):
        return ("", [f"- {_scalar(each)}" for each in value]) if value else ("[]", [])
    return _scalar(value), []


def _scalar(value: Any) -> str:
    return yaml_text(value).removesuffix("...\n").strip()


def _parse_block(lines: Sequence[str], start: int, indent: int, parent: TextEntry) -> int:
    """Read the children of an entry, and return the index of the first line after them."""
    pending: list[str] = []
    at = start
    while at < len(lines):
        line = lines[at]
        text = line.strip()
        depth = len(line) - len(line.lstrip())
        if text and depth < indent:
            break
        at += 1
        if not text or text.startswith("#"):
            pending.append(text)
            continue
        matched = _KEY.fullmatch(line)
        if matched is None or depth != indent:
            raise ValueError(f"line {at} is not of the form `key: value`: {line!r}")
        entry = TextEntry(matched["key"], (matched["value"] or "").strip(), pending)
        pending = []
        parent.children.append(entry)
        if not entry.value:
            at = _parse_body(lines, at, indent, entry)
    while pending and not pending[-1] and at:
        pending.pop()
        at -= 1
    parent.tail = pending
    return at


def _parse_body(lines: Sequence[str], start: int, indent: int, entry: TextEntry) -> int:
    first = next((line for line in lines[start:] if _is_content(line)), "")
    depth = len(first) - len(first.lstrip())
    if depth <= indent:
        return start
    if not first.lstrip().startswith("- "):
        return _parse_block(lines, start, depth, entry)
    at = start
    while at < len(lines) and lines[at].startswith(" " * depth):
        entry.items.append(lines[at][depth:])
        at += 1
    return at


def _is_content(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _lines(entry: TextEntry, depth: int) -> Iterator[str]:
    margin = " " * (depth * STEP)
    inner = margin + " " * STEP
    yield from (f"{margin}{line}".rstrip() for line in entry.comments)
    yield f"{margin}{entry.key}:{f' {entry.value}' if entry.value else ''}"
    yield from (f"{inner}{line}" for line in entry.items)
    for child in entry.children:
        yield from _lines(child, depth + 1)
    yield from (f"{inner}{line}".rstrip() for line in entry.tail)

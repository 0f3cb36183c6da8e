"""The keys that the schema of a format has, and the problems of a document that breaks it.

A table is a text file with one key a line, its path without indexes and its kind, which a generator
of the format writes from the official schema, so that no key is missing; or the models of botocore.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from trainyard.components.config.problems import nearest
from trainyard.components.package_data import data_text
from trainyard.importing.source import Location, Node, child, is_placeholder

Keys = tuple[str, ...]
"""Path of a key in the schema."""

_SCALARS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "text": ((str, int, float, bool), "text"),
    "integer": ((int,), "a whole number"),
    "number": ((int, float), "a number"),
    "boolean": ((bool,), "true or false"),
}
"""Python types and description of the kinds of scalars."""
_LISTS = ("sections", "list", "maps", "anys")
_MAPPINGS = ("section", "named", "map")
_A_MAPPING = "a mapping of keys to values"


@dataclass(frozen=True, slots=True)
class ShapeProblem:
    """A key that the schema does not have, or a value of the wrong kind."""

    location: Location
    line: int
    key: str
    """`unknown-key`; `wrong-kind`, such as text in the place of a list; or `wrong-value`, a scalar
    of the wrong type."""
    wrong: str = ""
    """The problem with a value."""
    wanted: str = ""
    """What to write in its place."""
    known: Sequence[str] = ()
    """The keys that the schema has there."""
    unsure: str = ""
    """Versions of the schema that are known, if the document may be of a later one."""

    @property
    def problem(self) -> str:
        """What is wrong, as the rest of a sentence."""
        if self.wrong:
            return self.wrong
        meant = self._meant
        known = f" in {self.unsure}" if self.unsure else ""
        nearest_key = f"; the nearest is `{meant}`" if meant else ""
        return f"is not a key of the schema{known}{nearest_key}"

    @property
    def remedy(self) -> str:
        """What to do."""
        if self.wrong:
            return self.wanted
        if self._meant is None:
            listed = ", ".join(sorted(self.known)) or "none"
            return f"remove it; the keys here are: {listed}"
        return f"rename it to `{self._meant}`, or remove it"

    @property
    def _meant(self) -> str | None:
        return nearest(str(self.location[-1]), self.known)


@dataclass(frozen=True)
class KeyTable:
    """The keys of one format."""

    read: Callable[[], Mapping[Keys, str]]
    """Returns the kind of every key, when the first document is read."""

    @cached_property
    def kinds(self) -> Mapping[Keys, str]:
        """The kind of every key.

        `section`, `sections` (a list of sections), `named` (sections by names that the user
        chooses; the tool ignores other keys in them), `list`, `map` (keys that the user chooses),
        `maps`, `text`, `integer`, `number`, `boolean`, and `any` and `anys` for what is not read.
        """
        return self.read()

    @cached_property
    def _children(self) -> Mapping[Keys, Sequence[str]]:
        found: dict[Keys, list[str]] = {}
        for *parents, key in self.kinds:
            found.setdefault(tuple(parents), []).append(key)
        return found

    @cached_property
    def words(self) -> frozenset[str]:
        """Every key of the schema, without the keys above it."""
        return frozenset(part for keys in self.kinds for part in keys)

    def problems(self, root: Node) -> list[ShapeProblem]:
        """Return the problems of a document, in the order of its lines."""
        return list(self._section(root, (), ()))

    def keys_of(self, root: Node, location: Location) -> Keys:
        """Return the path in the table of a location: without indexes and names of the user."""
        node: Node | None = root
        keys: Keys = ()
        is_name = False
        for part in location:
            node = child(node, part)
            if node is not None and node.section:
                keys = (node.section,)
            elif isinstance(part, str) and not is_name:
                keys = (*keys, part)
            is_name = self.kinds.get(keys) == "named" and not is_name
        return keys

    def named(self, keys: Keys, key: str, node: Node) -> str:
        """Return the name that the table has for a key of the section at a path."""
        del keys, node
        return key

    def value_problems(self, node: Node, at: Location, keys: Keys) -> Iterator[ShapeProblem]:
        """Yield the problems of a value; of none that CloudFormation computes, such as `!Ref`."""
        if not _is_reference(node):
            yield from self._value(node, at, keys)

    def _section(self, node: Node, at: Location, keys: Keys) -> Iterator[ShapeProblem]:
        known = self._children.get(keys, ())
        for key, value in node.value.items():
            named = self.named(keys, key, value)
            here, path = (*at, key), (value.section,) if value.section else (*keys, named)
            if path not in self.kinds and is_placeholder(key):
                continue  # the report says so
            if path not in self.kinds:
                yield ShapeProblem(here, value.line, "unknown-key", known=known)
            elif value.value is not None:
                yield from self.value_problems(value, here, path)

    def _value(self, node: Node, at: Location, keys: Keys) -> Iterator[ShapeProblem]:
        kind = self.kinds[keys]
        value = node.value
        if kind in _LISTS and not isinstance(value, list):
            yield _wrong(at, node, "a list")
        elif kind in _MAPPINGS and not isinstance(value, dict):
            yield _wrong(at, node, _A_MAPPING)
        elif kind == "sections":
            for index, each in enumerate(value):
                yield from self.element_problems(each, (*at, index), keys)
        elif kind == "section":
            yield from self._section(node, at, keys)
        elif kind in _SCALARS and not _is_scalar(value, kind):
            key = "wrong-kind" if isinstance(value, dict | list) else "wrong-value"
            yield _wrong(at, node, _SCALARS[kind][1], key)

    def element_problems(self, node: Node, at: Location, keys: Keys) -> Iterator[ShapeProblem]:
        """Yield the problems of an element of a list of sections."""
        if isinstance(node.value, dict):
            yield from self._section(node, at, keys)
        elif not _is_reference(node):
            yield _wrong(at, node, _A_MAPPING)


def keys_in(path: Path) -> Mapping[Keys, str]:
    """Return the kind of every key in the file of a table."""
    lines = data_text(path).splitlines()
    rows = (line.split() for line in lines if line and not line.startswith("#"))
    return {tuple(keys.split(".")): kind for keys, kind in rows}


def keys_beside(module: str) -> Callable[[], Mapping[Keys, str]]:
    """Return what reads the table `keys.txt` in the folder of a module, by its `__file__`."""
    return partial(keys_in, Path(module).with_name("keys.txt"))


def _is_scalar(value: Any, kind: str) -> bool:
    types, _ = _SCALARS[kind]
    if isinstance(value, bool):
        return bool in types
    if isinstance(value, types):
        return True
    return isinstance(value, str) and (is_placeholder(value) or _reads_as(value, kind))


def _reads_as(value: str, kind: str) -> bool:
    """Return whether text in quotes has the form of a scalar, which the tools also accept."""
    if kind == "boolean":
        return value.lower() in ("true", "false", "yes", "no", "on", "off")
    try:
        (int if kind == "integer" else float)(value)
    except ValueError:
        return False
    return True


def _is_reference(node: Node) -> bool:
    """Return whether CloudFormation computes the value, such as `!Ref`."""
    return bool(node.tag)


def _wrong(at: Location, node: Node, wanted: str, key: str = "wrong-kind") -> ShapeProblem:
    found = {dict: "a mapping", list: "a list"}.get(type(node.value), f"`{node.value}`")
    return ShapeProblem(at, node.line, key, f"is {found}, not {wanted}", f"write {wanted}")

"""The values of a document, each with its line, and the limits of what is read from others.

Values have no objects of their own, so a file from anywhere can be read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

Location = tuple[str | int, ...]
"""Keys and indexes from the root of a document to a value."""
_NO_LINE = 0


@dataclass(frozen=True, slots=True)
class Node:
    """A value in a document."""

    value: Any
    """A scalar, or nodes by key, or a list of nodes."""
    line: int
    """Line of its key, or of the value of a list; counted from 1."""
    tag: str = ""
    """Tag of the value that YAML itself does not have, such as `!Ref`."""
    origin: Location | None = None
    """Place in the document of a value that was computed; None if its own place is that."""
    section: str = ""
    """Section of the key table that has its keys, if the keys above do not say it."""
    file: Path | None = None
    """File of the line; None for that of the document."""


@dataclass(frozen=True, slots=True)
class FileProblem:
    """Why a file, or a part of it, was not read."""

    file: Path
    message: str
    """The file, the line, what is wrong, and what to do."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a file."""

    path: Path
    root: Node
    index: int = 0
    """Place of the document in its file; counted from 0."""
    note: str = ""
    """How it was read, if the file is a template."""
    is_guessed: bool = False
    """Whether another branch or turn of the template may say something else."""
    name: str = ""
    """Name of the cluster, if the file has it outside of the document."""
    within: str = ""
    """Place of the document in its file, if that has other keys around it."""
    problems: Sequence[FileProblem] = ()
    """What was not read of its files; the rest of them is in it."""

    def at(self, *location: str | int) -> Any:
        """Return the plain value at a location; None without one."""
        node = node_at(self.root, location)
        return None if node is None else plain(node)


def child(node: Node | None, part: str | int) -> Node | None:
    """Return the value at a key or an index, or None."""
    value = None if node is None else node.value
    if isinstance(value, dict):
        return value.get(part)
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return value[part]
    return None


def node_at(root: Node, location: Location) -> Node | None:
    """Return the value at a location, or None."""
    node: Node | None = root
    for part in location:
        node = child(node, part)
    return node


def plain(node: Node) -> Any:
    """Return a value without lines."""
    if isinstance(node.value, dict):
        return {key: plain(each) for key, each in node.value.items()}
    if isinstance(node.value, list):
        return [plain(each) for each in node.value]
    return node.value


def node_of_value(value: Any) -> Node:
    """Return a plain value that is in no file, with the line 0; a time becomes text."""
    if isinstance(value, Mapping):
        return Node({str(key): node_of_value(each) for key, each in value.items()}, _NO_LINE)
    if isinstance(value, list | tuple):
        return Node([node_of_value(each) for each in value], _NO_LINE)
    return Node(value.isoformat() if isinstance(value, datetime) else value, _NO_LINE)


def without(root: Node, locations: Collection[Location]) -> Node:
    """Return a document without the values at some locations; elements of lists become null."""

    def kept(node: Node, at: Location) -> Node:
        if isinstance(node.value, dict):
            below = {key: (each, (*at, key)) for key, each in node.value.items()}
            values = {key: kept(*pair) for key, pair in below.items() if pair[1] not in locations}
            return replace(node, value=values)
        if isinstance(node.value, list):
            return replace(
                node,
                value=[
                    Node(None, each.line) if (*at, n) in locations else kept(each, (*at, n))
                    for n, each in enumerate(node.value)
                ],
            )
        return node

    return kept(root, ())


def leaves(node: Node, at: Location = ()) -> Iterator[tuple[Location, Node]]:
    """Yield every scalar and every empty collection below a node, with its location."""
    if isinstance(node.value, dict) and node.value:
        for key, each in node.value.items():
            yield from leaves(each, (*at, key))
    elif isinstance(node.value, list) and node.value:
        for index, each in enumerate(node.value):
            yield from leaves(each, (*at, index))
    else:
        yield at, node


def text_of(location: Location) -> str:
    """Return a location as text: `Scheduling.SlurmQueues[0].Name`."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return "".join(parts).removeprefix(".")


_PLACEHOLDER = re.compile(
    r".*\$\{?\w+.*|.*<[^>]*>.*|.*\{\{.*|.*\bPLACEHOLDER.*|.*\bYOUR[-_ ].*|.*\bREPLACE.*|.*X{3,}.*",
    re.IGNORECASE | re.DOTALL,
)
_ID = re.compile(r"[0-9a-f]{8}(?:[0-9a-f]{9})?")


def is_placeholder(value: Any) -> bool:
    """Return whether a value is no value of AWS: `${SUBNET_ID}`, `<your-key>`, `subnet-xxx`."""
    return isinstance(value, str) and _PLACEHOLDER.fullmatch(value) is not None


def is_id(value: Any, prefix: str) -> bool:
    """Return whether a value is an id of EC2 with this prefix, such as `subnet`."""
    text = str(value)
    return text.startswith(f"{prefix}-") and bool(_ID.fullmatch(text.removeprefix(f"{prefix}-")))


def id_for(prefix: str, number: int = 0) -> str:
    """Return a placeholder for an unknown id, so that the rest can be checked."""
    return f"{prefix}-{number:017x}"


MOST_ENTRIES = 500
"""Maximum number of entries of a mapping or a list of the stack that a file becomes, such as node
groups. EKS permits 30 node groups of a cluster by default and ParallelCluster 50 queues."""


class ExcessError(Exception):
    """A limit is exceeded; the text says which one, as the rest of a sentence about a file."""


def long_collections(value: Any, at: Location = ()) -> Iterator[tuple[Location, int]]:
    """Yield the collections of a plain value that have too many entries, and how many."""
    if not isinstance(value, dict | list):
        return
    if len(value) > MOST_ENTRIES:
        yield at, len(value)
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        yield from long_collections(each, (*at, key))

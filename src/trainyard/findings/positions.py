"""Line numbers of keys in a stack file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

_PART = re.compile(r'\.(?P<name>[^.\[]+)|\[(?P<index>\d+)\]|\["(?P<quoted>[^"]*)"\]')
_FIRST = re.compile(r"[^.\[]+")
# libyaml is several times faster, but not every PyYAML build has it.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parts_of(path: str) -> tuple[str | int, ...]:
    """Return the parts of a key such as `trainyard:cluster.tags["cost.center"]`.

    The syntax is that of `pulumi config set --path`, which problem messages use for keys.
    """
    first = _FIRST.match(path)
    return (first.group(), *_steps(path, first.end())) if first else ()


def _steps(path: str, start: int) -> Iterator[str | int]:
    for match in _PART.finditer(path, start):
        index = match.group("index")
        yield int(index) if index is not None else match.group("name") or match.group("quoted")


class Positions:
    """The lines of all keys of a stack file; invalid YAML has none."""

    def __init__(self, path: Path) -> None:
        try:
            # Nodes only: no objects are constructed.
            self._root = yaml.compose(path.read_text(encoding="utf-8"), Loader=_LOADER)
        except (OSError, UnicodeDecodeError, yaml.YAMLError):
            self._root = None

    def line_of(self, path: str) -> int:
        """Return the line of a key, from 1; for a missing key, that of the nearest parent."""
        node, line = self._root, 1
        for part in ("config", *parts_of(path)):
            step = _step(node, part)
            if step is None:
                break
            node, line = step
        return line


def _step(node: yaml.Node | None, part: str | int) -> tuple[yaml.Node, int] | None:
    """Return the value at a key or index, with the line of that key or index."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(part):
                return value, key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        found = node.value[part]
        return found, found.start_mark.line + 1
    return None

"""On which line of a stack file a key stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

_PART = re.compile(r'\.(?P<name>[^.\[]+)|\[(?P<index>\d+)\]|\["(?P<quoted>[^"]*)"\]')
_FIRST = re.compile(r"[^.\[]+")
# libyaml parses several times faster, and is not in every build of PyYAML.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parts_of(path: str) -> tuple[str | int, ...]:
    """Return the steps of a key such as `trainyard:cluster.tags["cost.center"]`.

    The spelling is that of `pulumi config set --path`, as problems name their keys.
    """
    first = _FIRST.match(path)
    return (first.group(), *_steps(path, first.end())) if first else ()


def _steps(path: str, start: int) -> Iterator[str | int]:
    for match in _PART.finditer(path, start):
        index = match.group("index")
        yield int(index) if index is not None else match.group("name") or match.group("quoted")


class Positions:
    """The keys of one stack file with their lines; a file that is not YAML has none."""

    def __init__(self, path: Path) -> None:
        try:
            # Nodes only: nothing is made of them.
            self._root = yaml.compose(path.read_text(encoding="utf-8"), Loader=_LOADER)
        except (OSError, UnicodeDecodeError, yaml.YAMLError):
            self._root = None

    def line_of(self, path: str) -> int:
        """Return the line of a key, from 1; for one that is not there, of the nearest around it."""
        node, line = self._root, 1
        for part in ("config", *parts_of(path)):
            step = _step(node, part)
            if step is None:
                break
            node, line = step
        return line


def _step(node: yaml.Node | None, part: str | int) -> tuple[yaml.Node, int] | None:
    """Return what stands under a key or at an index, with the line on which that begins."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(part):
                return value, key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        found = node.value[part]
        return found, found.start_mark.line + 1
    return None

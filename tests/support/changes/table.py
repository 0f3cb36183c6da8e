"""The page about the effects of changing each key: `python -m tests.support.changes.table`.

It is generated from the golden of the change matrix, so that it is current whenever that is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path

from tests.support.changes import golden
from tests.support.changes.golden import Line
from tests.support.changes.names import COLLECTIONS, NAME

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "changes.md"

_TOPICS = {
    "EKS": "eks",
    "ParallelCluster": "parallelcluster",
    "AWS Batch": "batch",
    "Networks of their own": "network",
}
"""Architectures, by heading."""
_GRAVEST_FIRST = (
    "refused unless named: the cluster goes",
    "refused unless named: data goes",
    "refused unless named: the network goes",
    "refused unless named: nodes in reserved capacity go",
    "refused: the network is inhabited",
    "refused while the reservation is full",
    "refused while a Capacity Block's managed group has nodes",
    "refused: protected",
    "refused",
    "replaces what holds nothing",
    "EKS replaces the nodes",
    "Batch replaces the nodes as their jobs end",
    "ParallelCluster updates the cluster",
    "in place; EKS changes the nodes that run",
    "in place; nodes that run stay as they are",
    "in place",
    "adds",
    "removes",
    "nothing",
)
_KINDS = {
    "cluster": _GRAVEST_FIRST[0],
    "data": _GRAVEST_FIRST[1],
    "storage of the cluster": _GRAVEST_FIRST[1],
    "network": _GRAVEST_FIRST[2],
    "capacity": _GRAVEST_FIRST[3],
}
_SIZES = {"minimum", "desired", "maximum"}

INTRODUCTION = Path(__file__).parent / "introduction.md"
"""The text before the tables."""


def page() -> str:
    """Return the page, as Markdown."""
    parts = [INTRODUCTION.read_text(encoding="utf-8")]
    lines = golden.read()
    for topic, architecture in _TOPICS.items():
        found = _collected(line for line in lines if line.architecture == architecture)
        rows = [f"| {_code(key)} | {_cell(found[key])} |" for key in sorted(found)]
        parts.append(f"\n## {topic}\n\n| Key | What the next `up` does |\n|---|---|\n")
        parts.append("\n".join(rows) + "\n")
    return "".join(parts)


def _code(key: str) -> str:
    name, space, what = key.partition(" ")
    return f"`{name}`{space}{what}"


def _collected(lines: Iterable[Line]) -> Mapping[str, Set[str]]:
    found: dict[str, set[str]] = {}
    for line in lines:
        key = _general(line.key, line.change)
        found.setdefault(key, set()).update(_phrases(key, line.effects))
    return found


def _general(key: str, change: str) -> str:
    """Return a key with `*` for the entries that a change adds, too."""
    parts: list[str] = []
    for part in key.split("."):
        parts.append(NAME if ".".join(parts) in COLLECTIONS else part)
    general = ".".join(parts)
    return f"{general} ({change})" if change in ("added", "removed", "renamed") else general


def _phrases(key: str, lines: Sequence[str]) -> Iterator[str]:
    # No option allows such an update.
    if any(line.endswith(_INHABITED) for line in lines):
        lines = [line for line in lines if line.startswith("refused")]
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "asks":
            yield _KINDS[rest.rpartition(": ")[2]]
        elif word == "refused":
            yield _refusal(rest.strip())
        elif word == "replace":
            yield "replaces what holds nothing"
        elif word == "update":
            yield _update(key, rest)
        else:
            yield {"create": "adds", "delete": "removes", "nothing": "nothing"}[word]


_INHABITED = ": what is in it stays"


def _refusal(rest: str) -> str:
    if rest.startswith("protected: "):
        return "refused: protected"
    if rest.endswith(": nodes in a block"):
        return "refused while a Capacity Block's managed group has nodes"
    if rest.endswith(_INHABITED):
        return "refused: the network is inhabited"
    full = " beside " in rest and ": no room in " in rest
    return "refused while the reservation is full" if full else "refused"


def _update(key: str, rest: str) -> str:
    names, _, properties = rest.strip().rpartition(" (")
    changed = set(re.split(r", ", properties.rstrip(")")))
    if "templateBody" in changed:
        return "ParallelCluster updates the cluster"
    if names.endswith("-node-group") and changed & {"launchTemplate", "releaseVersion", "version"}:
        return "EKS replaces the nodes"
    if names.endswith("-node-group") and changed & {"labels", "taints"}:
        return "in place; EKS changes the nodes that run"
    if names.endswith("-nodes") and "launchTemplate" in changed:
        return "in place; nodes that run stay as they are"
    if "computeResources" in changed and key.rpartition(".")[2] not in _SIZES:
        return "Batch replaces the nodes as their jobs end"
    return "in place"


def _cell(phrases: Set[str]) -> str:
    ordered = [phrase for phrase in _GRAVEST_FIRST if phrase in phrases]
    if any(phrase.startswith("refused unless named") for phrase in ordered):
        ordered = [phrase for phrase in ordered if phrase != "replaces what holds nothing"]
    # Next to a more severe change, a list of roles that change in place is of no use.
    small = ("in place", "adds", "removes", "nothing")
    grave = [phrase for phrase in ordered if phrase not in small]
    rest = [phrase for phrase in ordered if phrase in small]
    keeps = not grave or grave == ["refused"]
    return "; or ".join([*grave, *(rest if keeps else rest[-1:] if "nothing" in rest else [])])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE} is current\n")

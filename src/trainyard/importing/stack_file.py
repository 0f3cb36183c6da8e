"""The text of the stack file that an import writes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.components.config.problems import ROOT as CLUSTER
from trainyard.components.plain_text import fill
from trainyard.importing.imported import Imported
from trainyard.importing.reading import node_of
from trainyard.importing.report import Claim
from trainyard.importing.source import Node, child, text_of
from trainyard.stack_files.installation import INSTALLATION
from trainyard.stack_files.stack_files import REGION_KEY
from trainyard.stack_files.yaml_reader import yaml_text

_WIDTH = 100
_FIRST = ("kind", "name", "tags", "network", "reservations", "storage", "architecture")
"""Keys in the order in which stack files have them; other scalars come before other sections."""


def stack_file_text(imported: Imported, *, command: str) -> str:
    """Return the text of a stack file, with a comment at each key that works better.

    Args:
        imported: The document that was read.
        command: The command that makes the same file.
    """
    stack = imported.stack
    config: dict[str, Any] = {REGION_KEY: stack.region} if stack.region else {}
    content = {"config": {**config, CLUSTER: _ordered(stack.values)}}
    lines = yaml_text(content).splitlines()
    comments = dict(_comments(imported, node_of("\n".join(lines))))
    written = [*_header(imported, command)]
    for number, line in enumerate(lines, 1):
        margin = line[: len(line) - len(line.lstrip())]
        written += [f"{margin}# {each}" for each in _folded(comments.get(number, ""), len(margin))]
        written.append(line)
    return "".join(f"{line}\n" for line in written)


def _header(imported: Imported, command: str) -> Iterator[str]:
    schema = INSTALLATION.documents / "schema" / "stack.schema.json"
    yield f"# yaml-language-server: $schema={schema}"
    yield "#"
    title = f"{imported.stack.name}: from {imported.document.path.name}, {imported.format.title}."
    yield from (f"# {line}" for line in _folded(f"{title} Made by:", 0))
    yield "#"
    yield f"#   {command}"
    yield "#"
    yield f"# Every key is explained in {INSTALLATION.documents / 'config.md'}."


def _ordered(value: Any) -> Any:
    """Return sections with their keys in the order of reading."""
    if isinstance(value, list):
        return [_ordered(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {key: _ordered(value[key]) for key in sorted(value, key=lambda key: _rank(key, value))}


def _rank(key: str, section: dict[str, Any]) -> tuple[int, int]:
    if key in _FIRST:
        return 0, _FIRST.index(key)
    return 1, isinstance(section[key], dict)


def _comments(imported: Imported, root: Node) -> Iterator[tuple[int, str]]:
    """Yield a line of the stack file and the comment above it."""
    for claim in imported.report.claims.values():
        if claim.fate == "taken over better" and claim.ours:
            yield from ((line, _sentence(claim)) for line in _line_of(claim, root))


def _line_of(claim: Claim, root: Node) -> Iterator[int]:
    node: Node | None = root
    for part in ("config", CLUSTER, *claim.ours):
        node = child(node, part)
    if node is not None:
        yield node.line


def _sentence(claim: Claim) -> str:
    return f"{text_of(claim.location)} of the source: {claim.why}."


def _folded(text: str, margin: int) -> list[str]:
    return fill(text, _WIDTH - margin - len("# "), "").splitlines() if text else []

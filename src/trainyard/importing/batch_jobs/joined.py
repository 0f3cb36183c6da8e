"""Several files with objects of AWS Batch as one document, with the file of every value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from trainyard.importing.formats import LISTS_OF_BATCH
from trainyard.importing.source import Document, Node


def joined(documents: Sequence[Document]) -> Document:
    """Return documents as one that has the lists of an answer."""
    found: dict[str, list[Node]] = {}
    first, *others = documents
    for document in documents:
        root = _in_file(document.root, document.path)
        for key, listed in LISTS_OF_BATCH.items():
            if key in root.value:
                found.setdefault(listed, []).append(root)
                break
        else:
            for listed in LISTS_OF_BATCH.values():
                below = root.value.get(listed)
                found.setdefault(listed, []).extend(below.value if below is not None else ())
    values = {listed: Node(nodes, 1) for listed, nodes in found.items() if nodes}
    return replace(first, root=Node(values, 1), others=[each.path for each in others])


def _in_file(node: Node, file: Path) -> Node:
    value: Any = node.value
    if isinstance(value, dict):
        value = {key: _in_file(each, file) for key, each in value.items()}
    elif isinstance(value, list):
        value = [_in_file(each, file) for each in value]
    return replace(node, value=value, file=file)

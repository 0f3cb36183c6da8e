"""The blocks of a document by their sections, and what refers to them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tools.importing.reader import Reader

_REFERENCE = re.compile(
    r"\$\{(?P<address>(?:module\.[\w-]+(?:\[[^\]]+\])?\.)*?"
    r"(?:module\.[\w-]+|[a-z]\w*\.[\w-]+)(?:\[[^\]]+\])?)\.(?P<attribute>\w+)"
    r"(?:\[(?P<index>\d+)\])?\}"
)


@dataclass(frozen=True, slots=True)
class Reference:
    """An attribute of a block, which is known after deployment."""

    address: str
    attribute: str
    index: int | None
    """Index in a list, such as that of a subnet."""


def reference_of(value: Any) -> Reference | None:
    """Return what a value refers to, if it is nothing but a reference."""
    match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    index = int(match["index"]) if match["index"] else None
    return Reference(match["address"], match["attribute"], index)


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of a document."""

    root: Reader

    def of(self, *sections: str) -> Iterator[Reader]:
        """Yield the blocks of sections, in the order of the document."""
        for _, block in self.root.entries():
            if block.node is not None and block.node.section in sections:
                yield block

    def first(self, *sections: str) -> Reader | None:
        """Return the first block of sections."""
        return next(self.of(*sections), None)

    def named(self, value: Any) -> Reader | None:
        """Return the block to which a value refers, or that has it as its id."""
        found = reference_of(value)
        if found is not None:
            at = self.root.at(found.address)
            return at if at.exists else None
        if not isinstance(value, str):
            return None
        return next(
            (
                block
                for _, block in self.root.entries()
                if block.at("id").value == value or block.at("name").value == value
            ),
            None,
        )


def address_of(block: Reader) -> str:
    """Return the address of a block."""
    return str(block.location[0])

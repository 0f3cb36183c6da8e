"""The blocks of a document by their sections, and what refers to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from trainyard.importing.reader import Reader
from trainyard.importing.source import child

_REFERENCE = re.compile(
    r"\$\{(?P<address>(?:module\.[\w-]+(?:\[[^\]]+\])?\.)*?"
    r"(?:module\.[\w-]+|[a-z]\w*\.[\w-]+)(?:\[[^\]]+\])?)\.(?P<attribute>\w+)"
    r"(?:\[(?P<index>\d+)\])?\}"
)
_KEY = re.compile(r'\[(?:\d+|"(?:[^"\\]|\\.)*")\]')
_ANY = ("this", "main", "default")
"""Labels of the only block of its type in a module."""


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


@dataclass(frozen=True)
class Blocks:
    """The blocks of a document."""

    root: Reader

    def of(self, *sections: str) -> Iterator[Reader]:
        """Yield the blocks of sections, in the order of the document."""
        if len(sections) == 1:
            yield from self._by_section.get(sections[0], ())
            return
        for _, block in self._all:
            if block.node is not None and block.node.section in sections:
                yield block

    def first(self, *sections: str) -> Reader | None:
        """Return the first block of sections."""
        return next(self.of(*sections), None)

    def named(self, value: Any, *sections: str) -> Reader | None:
        """Return the block to which a value refers, or that has it as its id, ARN or name.

        Args:
            value: The value.
            sections: Sections of the block; any without one.
        """
        found = reference_of(value)
        if found is not None:
            at = self.root.at(found.address)
            is_wanted = at.node is not None and (not sections or at.node.section in sections)
            return at if at.exists and is_wanted else None
        if not isinstance(value, str):
            return None
        named = (
            block
            for block in self._by_name.get(value, ())
            if block.node is not None and (not sections or block.node.section in sections)
        )
        return next(named, None)

    @cached_property
    def _all(self) -> Sequence[tuple[str, Reader]]:
        return [*self.root.entries()]

    @cached_property
    def _by_section(self) -> Mapping[str, Sequence[Reader]]:
        found: dict[str, list[Reader]] = {}
        for _, block in self._all:
            if block.node is not None:
                found.setdefault(block.node.section, []).append(block)
        return found

    @cached_property
    def _by_name(self) -> Mapping[str, Sequence[Reader]]:
        """The blocks by their ids, ARNs and names; ids come first."""
        found: dict[str, list[Reader]] = {}
        for key in ("id", "arn", "name"):
            for _, block in self._all:
                value = None if block.node is None else child(block.node, key)
                if value is not None and isinstance(value.value, str):
                    found.setdefault(value.value, []).append(block)
        return found


def name_in_address(block: Reader) -> str:
    """Return the name of a block for the stack file: its key, its label, or that of its module."""
    address = address_of(block)
    keys = re.findall(r'\["([^"]+)"\]', address)
    label = label_of(block)
    if keys:
        return keys[-1] if label in _ANY else f"{label}-{keys[-1]}"
    modules = module_of(address)
    return modules[-1] if label in _ANY and modules else label


def label_of(block: Reader) -> str:
    """Return the last label of a block: `private` of `aws_subnet.private[0]`."""
    return without_keys(address_of(block)).split(".")[-1]


def without_keys(address: str) -> str:
    """Return an address without the keys of `count` and `for_each`."""
    return _KEY.sub("", address)


def module_of(address: str) -> tuple[str, ...]:
    """Return the names of the modules in an address."""
    return tuple(re.findall(r"(?:^|\.)module\.([\w-]+)", without_keys(address)))


def address_of(block: Reader) -> str:
    """Return the address of a block."""
    return str(block.location[0])

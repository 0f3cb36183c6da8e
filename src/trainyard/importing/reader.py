"""Read values of a source, and record what becomes of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trainyard.importing.report import Claim, Fate, Report
from trainyard.importing.source import Location, Node, child, plain

_FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
"""Text that ParallelCluster and YAML 1.1 read as a boolean."""


@dataclass(frozen=True, slots=True)
class Reader:
    """A place in the source, which may have no value."""

    node: Node | None
    location: Location
    report: Report

    def at(self, *keys: str | int) -> Reader:
        """Return the place below this one."""
        node, location = self.node, self.location
        for key in keys:
            node = child(node, key)
            computed = None if node is None else node.origin
            location = (*location, key) if computed is None else computed
        return Reader(node, location, self.report)

    @property
    def exists(self) -> bool:
        """Whether the source has a value here other than null."""
        return self.node is not None and self.node.value is not None

    @property
    def value(self) -> Any:
        """The plain value; None without one."""
        return None if self.node is None else plain(self.node)

    @property
    def flag(self) -> Any:
        """The value as a boolean, also of text such as `"true"`; another value as it is."""
        value = self.value
        return _FLAGS.get(value.lower(), value) if isinstance(value, str) else value

    def items(self) -> Iterator[Reader]:
        """Yield the places of a list."""
        if self.node is not None and isinstance(self.node.value, list):
            for index in range(len(self.node.value)):
                yield self.at(index)

    def entries(self) -> Iterator[tuple[str, Reader]]:
        """Yield the keys of a mapping with their places."""
        if self.node is not None and isinstance(self.node.value, dict):
            for key in self.node.value:
                yield key, self.at(key)

    def claim(self, fate: Fate, why: str = "", *, ours: Location = (), rule: str = "") -> None:
        """Record what becomes of the value and of all values below it, if there is one."""
        if self.node is not None:
            claim = Claim(location=self.location, fate=fate, ours=ours, why=why, rule=rule)
            self.report.claim(claim)

    def implied(self, why: str) -> None:
        """Record that the stack is so without a key."""
        self.claim("implied", why)

    def dropped(self, why: str) -> None:
        """Record that the value has no effect in the stack."""
        self.claim("dropped", why)

    def unsupported(self, what_to_do: str, *, rule: str = "") -> None:
        """Record that the stack cannot have the value, and what to do."""
        self.claim("not supported", what_to_do, rule=rule)

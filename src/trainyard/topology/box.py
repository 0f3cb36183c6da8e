"""What a picture shows, as nested boxes without positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from trainyard.components.catalog.instance_types import InterfaceType

Kind = Literal[
    "region",
    "service",
    "control-plane",
    "vpc",
    "network",
    "zone",
    "public-subnet",
    "private-subnet",
    "reservation",
    "queue",
    "nodes",
    "storage",
]
"""What a box is, which decides its color and its icon."""
Change = Literal["created", "changed", "replaced", "deleted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxRow:
    """Boxes next to each other."""

    boxes: tuple[Box, ...]
    wraps: bool = True
    """Whether boxes that do not fit into the width continue below, in columns of equal width.
    Otherwise the picture is as wide as the row needs, and boxes with more content are wider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A box with its texts, and the boxes in it."""

    kind: Kind
    title: str
    caption: str = ""
    """What it is, such as `managed node group`."""
    lines: tuple[str, ...] = ()
    interfaces: tuple[InterfaceType, ...] = ()
    """Network interfaces of one node, which are drawn."""
    outside: bool = False
    """Whether the stack uses it but does not create it."""
    rows: tuple[BoxRow, ...] = ()
    anchor: str = ""
    """Id of the section of a report with its details."""
    resource: str = ""
    """`TYPE::NAME` of the resource that creates it. Its changes, and those of the resources below
    it, are changes of the box. Empty for a box that no resource of its own creates."""
    change: Change | None = None

    @property
    def children(self) -> tuple[Box, ...]:
        """The boxes in it."""
        return tuple(box for row in self.rows for box in row.boxes)

    def all(self) -> Iterator[Box]:
        """Yield the box and all boxes in it, outer ones first."""
        yield self
        for child in self.children:
            yield from child.all()


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupant:
    """A box in a subnet, or in several."""

    box: Box
    subnets: tuple[str, ...]
    """References of the `NetworkPlan`; empty for a box in the VPC whose subnets are unknown."""
    in_one: bool = False
    """Whether it is in only one of several subnets, which the account decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What an architecture adds to the network of a stack."""

    services: tuple[Box, ...] = ()
    """Boxes outside the VPC."""
    occupants: tuple[Occupant, ...] = field(default=())

"""The resources to which an attribute of a plan refers that is known after `apply`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from trainyard.importing.source import Node, child
from trainyard.importing.terraform.blocks import module_of, without_keys
from trainyard.importing.terraform.configuration import Configuration, Referent
from trainyard.importing.terraform.keys import KEYS
from trainyard.importing.terraform.values import UNKNOWN, unknown

_TEMPLATE = ("aws_launch_template",)
_SUBNETS = ("aws_subnet",)
_VPC = ("aws_vpc",)
_TYPES: Mapping[str, Sequence[str]] = {
    "launch_template.id": _TEMPLATE,
    "launch_template_id": _TEMPLATE,
    "launch_template_name": _TEMPLATE,
    "launch_configuration": ("aws_launch_configuration",),
    "subnet_ids": _SUBNETS,
    "subnets": _SUBNETS,
    "subnet_id": _SUBNETS,
    "vpc_zone_identifier": _SUBNETS,
    "vpc_id": _VPC,
    "route_table_id": ("aws_route_table",),
    "gateway_id": ("aws_internet_gateway",),
    "group_name": ("aws_placement_group",),
    "capacity_reservation_id": (
        "aws_ec2_capacity_reservation",
        "aws_ec2_capacity_block_reservation",
    ),
    "compute_environment": ("aws_batch_compute_environment",),
    "compute_environments": ("aws_batch_compute_environment",),
    "node_role_arn": ("aws_iam_role",),
    "role": ("aws_iam_role",),
}
"""Types of resources by the attributes that name them."""
_LISTS = ("subnet_ids", "subnets", "vpc_zone_identifier", "compute_environments")
_DEFAULTED = (
    *("ami_type", "capacity_type", "disk_size", "instance_types", "version", "release_version"),
)
"""Attributes for which EKS has defaults, so that they are unknown without a value too."""


@dataclass(frozen=True)
class Resource:
    """A resource in the values of a plan or a state."""

    node: Node
    module: str
    """Address of its module; empty for the root."""

    def _text(self, key: str) -> str:
        found = child(self.node, key)
        return "" if found is None else str(found.value)

    @cached_property
    def address(self) -> str:
        """Its address."""
        return self._text("address")

    @cached_property
    def type(self) -> str:
        """Its type, such as `aws_vpc`."""
        return self._text("type")

    @cached_property
    def name(self) -> str:
        """Its address in its module, without the key of `count` or `for_each`."""
        return f"{self.type}.{self._text('name')}"

    @cached_property
    def key(self) -> str:
        """Its key of `count` or `for_each`."""
        return self._text("index")

    @property
    def section(self) -> str:
        """The section of the key table that has its attributes."""
        if self._text("mode") == "data":
            return "data"
        return self.type if (self.type,) in KEYS.kinds else "resource"


@dataclass(frozen=True)
class References:
    """What the expressions of a plan refer to, among its resources."""

    configuration: Configuration
    resources: Sequence[Resource]

    def of(self, resource: Resource, path: Sequence[str | int], line: int) -> Node | None:
        """Return the value of an attribute that is known after `apply`; None if AWS sets it."""
        names = [each for each in path if isinstance(each, str)]
        name = ".".join(names[-2:]) if names[-1] == "id" else names[-1]
        expression = self.configuration.expression(module_of(resource.module), resource.name, path)
        if name in _DEFAULTED or (expression is None and name not in _TYPES):
            return None
        referents = self.configuration.referents(module_of(resource.module), expression)
        found = self._named(resource, name, referents)
        values = [unknown(f"{each.address}.id", line, None) for each in found]
        if name in _LISTS and values:
            return Node(values, line)
        if len(values) == 1:
            return values[0]
        return Node("(known after apply)", line, UNKNOWN) if referents else None

    def _named(
        self, resource: Resource, name: str, referents: Sequence[Referent]
    ) -> list[Resource]:
        types = _TYPES.get(name, ())
        differing = [each for each in referents if each.differs]
        if any(each.module != module_of(resource.module) for each in differing):
            return []  # one of those that the caller names, and the plan does not say which
        found = [
            each
            for each in self.resources
            if each.type in types and any(_is_named(each, referent) for referent in referents)
        ]
        if not found and types in (_TEMPLATE, _VPC):
            # Locals and `dynamic` blocks, in which modules name these, are not in a plan.
            own = [each for each in self.resources if each.module == resource.module]
            found = [each for each in own if each.type in types]
        found = [each for each in found if each.module == resource.module] or found
        # `count.index` and `each.key` take the one of their own number or key.
        return [each for each in found if each.key == resource.key] if differing else found


def _is_named(resource: Resource, referent: Referent) -> bool:
    """Return whether a name is that of a resource, without a key or with its own."""
    if referent.module != module_of(resource.module):
        return False
    local = resource.address.removeprefix(f"{resource.module}." if resource.module else "")
    name = referent.name
    return without_keys(name).split(".")[:2] == resource.name.split(".") and (
        name.startswith(local) or not name.startswith(f"{resource.name}[")
    )

"""Launches: what a launch template or an instance sets, and which templates a group uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pulumi_policy import PolicyResource

from trainyard.policies.resources.props import UNKNOWN, Facts, whole_number
from trainyard.policies.resources.reservations import TARGET
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import (
    AUTO_SCALING_GROUP,
    BATCH_COMPUTE_ENVIRONMENT,
    INSTANCE,
    LAUNCH_TEMPLATE,
)

LAUNCHES = (LAUNCH_TEMPLATE, INSTANCE)
"""Types that `Launch` reads."""

CAPACITY_BLOCK = "capacity-block"
EFA_TYPES = ("efa", "efa-only")

PLACEMENT_GROUP_PATHS: dict[str, tuple[tuple[str, ...], ...]] = {
    LAUNCH_TEMPLATE: (("placement", "groupName"), ("placement", "groupId")),
    INSTANCE: (("placementGroup",), ("placementGroupId",)),
    AUTO_SCALING_GROUP: (("placementGroup",),),
    BATCH_COMPUTE_ENVIRONMENT: (("computeResources", "placementGroup"),),
}
"""Properties that name the placement group, by type: by name, and for launches by id."""


class Launch:
    """One launch. Missing values are None, unknown values are `UNKNOWN`."""

    def __init__(self, resource_type: str, facts: Facts) -> None:
        self.facts = facts
        self._type = resource_type

    @property
    def instance_type(self) -> Any:
        """Name of the instance type."""
        return self.facts.get("instanceType")

    @property
    def market_type(self) -> Any:
        """`spot`, `capacity-block`, or None for On-Demand."""
        return self.facts.get("instanceMarketOptions", "marketType")

    @property
    def placement_group(self) -> Any:
        """Name or id of the placement group."""
        return self.facts.first(*PLACEMENT_GROUP_PATHS[self._type])

    @property
    def reservation(self) -> Any:
        """Id of the targeted reservation, or ARN of the targeted group of reservations."""
        return self.facts.first(
            (*TARGET, "capacityReservationId"), (*TARGET, "capacityReservationResourceGroupArn")
        )

    @property
    def preference(self) -> Any:
        """`capacity-reservations-only`, `open`, `none` or None."""
        return self.facts.get("capacityReservationSpecification", "capacityReservationPreference")

    @property
    def takes_the_rest_from_a_template(self) -> bool:
        """Whether a launch template may set the properties that are missing here."""
        return self._type == INSTANCE and self.facts.get("launchTemplate") is not None

    def interfaces(self) -> Iterator[Interface]:
        """Yield the network interfaces of a launch template, in their order."""
        for index in range(self.facts.count("networkInterfaces")):
            yield Interface(self.facts, index)

    def efa_interfaces(self) -> list[Interface]:
        """Return the EFA interfaces; the rule reports an interface of unknown type."""
        return [interface for interface in self.interfaces() if interface.type in EFA_TYPES]


class Interface:
    """One network interface of a launch template."""

    def __init__(self, facts: Facts, index: int) -> None:
        self._facts = facts
        self.index = index
        """Position in the list of the template."""

    @property
    def type(self) -> Any:
        """`interface`, `efa`, `efa-only` or `UNKNOWN`; the default of EC2 is `interface`."""
        return self._needed("interfaceType") or "interface"

    @property
    def card(self) -> int | None:
        """Index of the network card, 0 by default; None if it is unknown."""
        return self._number("networkCardIndex")

    @property
    def device(self) -> int | None:
        """Index of the device on its card, 0 by default; None if it is unknown."""
        return self._number("deviceIndex")

    def get(self, key: str) -> Any:
        """Return another property."""
        return self._facts.get("networkInterfaces", self.index, key)

    def _needed(self, key: str) -> Any:
        return self._facts.needed("networkInterfaces", self.index, key)

    def _number(self, key: str) -> int | None:
        value = self._needed(key)
        return None if value is UNKNOWN else whole_number(value) or 0

    def __str__(self) -> str:
        return f"network interface {self.index} (card {self.card}, device {self.device})"


FLEET_CONFIGS = "launchTemplateConfigs"
"""In an EC2 Fleet and a Spot Fleet: templates, with overrides of types and subnets."""
MIXED = ("mixedInstancesPolicy", "launchTemplate")
"""In an Auto Scaling group: a template, with overrides of types."""

_SPECIFICATION = (*MIXED, "launchTemplateSpecification")
_BATCH = ("computeResources", "launchTemplate")
_REFERENCES = (
    ("launchTemplate", "id"),
    ("launchTemplate", "name"),
    (*_SPECIFICATION, "launchTemplateId"),
    (*_SPECIFICATION, "launchTemplateName"),
    (*_BATCH, "launchTemplateId"),
    (*_BATCH, "launchTemplateName"),
)
_FLEET_KEYS = ("launchTemplateId", "launchTemplateName", "id", "name")


def templates_of(stack: Stack, group: PolicyResource) -> tuple[PolicyResource, ...]:
    """Return the launch templates of the stack that a group of nodes may use.

    The group is an Auto Scaling group, an EKS node group, a Batch compute environment, a fleet or
    an instance. There are several templates in a fleet, or if the id is unknown, and none if
    another program creates the template.
    """
    for path in _REFERENCES:
        reference = stack.refers(group, *path, to=LAUNCH_TEMPLATE)
        if reference is not None:
            return reference.resources
    return tuple({each.urn: each for each in _of_fleet(stack, group)}.values())


def _of_fleet(stack: Stack, group: PolicyResource) -> Iterator[PolicyResource]:
    for index in range(stack.facts_of(group.urn).count(FLEET_CONFIGS)):
        for key in _FLEET_KEYS:
            path = (FLEET_CONFIGS, index, "launchTemplateSpecification", key)
            reference = stack.refers(group, *path, to=LAUNCH_TEMPLATE)
            yield from reference.resources if reference else ()

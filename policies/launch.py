"""What a launch template or an instance says about its launch, under one set of names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from policies.props import UNKNOWN, Facts, whole_number
from policies.resource_types import INSTANCE, LAUNCH_TEMPLATE

LAUNCHES = (LAUNCH_TEMPLATE, INSTANCE)
"""Types that `Launch` reads."""

CAPACITY_BLOCK = "capacity-block"
EFA_TYPES = ("efa", "efa-only")

_TARGET = ("capacityReservationSpecification", "capacityReservationTarget")
PLACEMENT_GROUP_PATHS: dict[str, tuple[tuple[str, ...], ...]] = {
    LAUNCH_TEMPLATE: (("placement", "groupName"), ("placement", "groupId")),
    INSTANCE: (("placementGroup",), ("placementGroupId",)),
}
"""Where a launch names its placement group: by name, by id."""


class Launch:
    """One launch. A value that is not given is None, one that is not known yet is `UNKNOWN`."""

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
        """Id of the reservation that is targeted, or ARN of the group of reservations."""
        return self.facts.first(
            (*_TARGET, "capacityReservationId"), (*_TARGET, "capacityReservationResourceGroupArn")
        )

    @property
    def preference(self) -> Any:
        """`capacity-reservations-only`, `open`, `none` or None."""
        return self.facts.get("capacityReservationSpecification", "capacityReservationPreference")

    @property
    def takes_the_rest_from_a_template(self) -> bool:
        """Whether what is missing here may stand in a launch template."""
        return self._type == INSTANCE and self.facts.get("launchTemplate") is not None

    def interfaces(self) -> Iterator[Interface]:
        """Yield the network interfaces of a launch template, in its order."""
        for index in range(self.facts.count("networkInterfaces")):
            yield Interface(self.facts, index)

    def efa_interfaces(self) -> list[Interface]:
        """Return those that are an EFA; one of unknown type is none, and the rule says so."""
        return [interface for interface in self.interfaces() if interface.type in EFA_TYPES]


class Interface:
    """One network interface of a launch template."""

    def __init__(self, facts: Facts, index: int) -> None:
        self._facts = facts
        self.index = index
        """Position in the list of the template."""

    @property
    def type(self) -> Any:
        """`interface`, `efa`, `efa-only` or `UNKNOWN`; EC2's default is `interface`."""
        return self._needed("interfaceType") or "interface"

    @property
    def card(self) -> int | None:
        """Index of the network card, 0 if not given; None if not known yet."""
        return self._number("networkCardIndex")

    @property
    def device(self) -> int | None:
        """Index of the device on its card, 0 if not given; None if not known yet."""
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

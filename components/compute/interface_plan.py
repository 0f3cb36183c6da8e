"""The network interfaces of a launch template, so that every EFA interface of a type is used.

Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trainyard.components.catalog.instance_types import InstanceType, InterfaceType, NetworkCard
from trainyard.components.config.node_pool import NodePool


@dataclass(frozen=True, slots=True)
class NetworkInterface:
    """One network interface of a launch template."""

    network_card_index: int
    device_index: int
    interface_type: InterfaceType

    @property
    def takes_address(self) -> bool:
        """Whether the interface takes an IPv4 address of its subnet; `efa-only` never does."""
        return self.interface_type != "efa-only"

    @property
    def carries_efa(self) -> bool:
        """Whether the interface is an EFA."""
        return self.interface_type != "interface"


@dataclass(frozen=True, slots=True)
class InterfacePlan:
    """The interfaces of one node, the primary first, then in card order."""

    interfaces: tuple[NetworkInterface, ...]

    @property
    def efa_interfaces(self) -> int:
        """Number of EFA interfaces."""
        return sum(i.carries_efa for i in self.interfaces)

    @property
    def addresses_per_node(self) -> int:
        """IPv4 addresses that one node's interfaces take from the subnet at launch."""
        return sum(i.takes_address for i in self.interfaces)


def plan_pool_interfaces(
    pool: NodePool, instance_type: InstanceType, *, spare_on_card_zero: int = 0
) -> InterfacePlan | None:
    """Return the interfaces of the nodes of a pool; None without EFA."""
    if not pool.efa_enabled or not instance_type.efa_supported:
        return None
    return plan_interfaces(
        instance_type, pool.interface_layout, spare_on_card_zero=spare_on_card_zero
    )


def plan_interfaces(
    instance_type: InstanceType,
    layout: Literal["efa-only", "efa"] = "efa-only",
    *,
    spare_on_card_zero: int = 0,
) -> InterfacePlan:
    """Return the interfaces that use every EFA interface of an instance type.

    `efa-only`: the primary (card 0, device 0) is an `interface` and the only one with an address;
    device 1 of card 0, if that card supports EFA, and device 0 of each further EFA card get an
    `efa-only`. If card 0 has room for one interface only, it gets one `efa`.

    `efa`: one `efa` per card, at device 0 of card 0 and device 1 of further cards. If card 0 does
    not support EFA, it gets an `interface`.

    The number of EFA interfaces comes from the type's maximum, not from its cards: p6-b300 has 17
    cards and 16 EFA interfaces, because card 0 does not support EFA.

    `spare_on_card_zero` slots of card 0 stay free, if available, for interfaces that are attached
    later: p5 has two slots there, so with one spare slot its card 0 gets one `efa`.

    Raises:
        ValueError: the instance type has no EFA interface.
    """
    if not instance_type.efa_supported:
        raise ValueError(
            f"{instance_type.name} has no EFA interface; set efa_enabled: false on the node group"
        )
    first, *further = instance_type.network_cards
    on_card_zero = (
        _efa_only_card_zero(first, spare=spare_on_card_zero)
        if layout == "efa-only"
        else _efa_card_zero(first)
    )
    remaining = instance_type.efa_interfaces - sum(i.carries_efa for i in on_card_zero)
    cards = [card for card in further if layout in card.interface_types][:remaining]
    return InterfacePlan(
        (
            *on_card_zero,
            *(
                NetworkInterface(card.index, _further_device(card, layout), layout)
                for card in cards
            ),
        )
    )


def _efa_only_card_zero(card: NetworkCard, *, spare: int) -> tuple[NetworkInterface, ...]:
    primary = NetworkInterface(0, 0, "interface")
    if "efa-only" not in card.interface_types:
        return (primary,)
    if card.maximum_interfaces - spare <= 1:
        return (NetworkInterface(0, 0, "efa"),)
    return (primary, NetworkInterface(0, 1, "efa-only"))


def _efa_card_zero(card: NetworkCard) -> tuple[NetworkInterface, ...]:
    return (NetworkInterface(0, 0, "efa" if "efa" in card.interface_types else "interface"),)


def _further_device(card: NetworkCard, layout: InterfaceType) -> int:
    # Device 0 is the primary interface. On further cards, an interface with an address uses device
    # 1 if the card has room for it, as in the AWS templates.
    return 1 if layout == "efa" and card.maximum_interfaces > 1 else 0

"""Network interfaces of an instance: those made as resources, and their layout on the cards.

Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-efa.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_NetworkCardInfo.html
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pulumi_policy import PolicyResource

from trainyard.components.catalog.instance_types import InstanceType
from trainyard.policies.resources.launches import EFA_TYPES
from trainyard.policies.resources.props import UNKNOWN, whole_number
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import NETWORK_INTERFACE


@dataclass(frozen=True, slots=True)
class AttachedInterface:
    """One network interface of an instance that is a separate resource."""

    name: str
    """Name of its resource, or its position in the list if the resource is not known."""
    type: Any
    """`interface`, `efa`, `efa-only` or `UNKNOWN`."""
    card: int | None
    device: int | None

    def __str__(self) -> str:
        return f"network interface {self.name} (card {self.card}, device {self.device})"


def attached_interfaces(stack: Stack, instance: PolicyResource) -> list[AttachedInterface]:
    """Return the interfaces that an instance launches with, in its order."""
    listed = list(_listed(stack, instance))
    # AWS reports the primary interface of a running instance under both properties.
    if any((each.card, each.device) == (0, 0) for each in listed):
        return listed
    return [*_primary(stack, instance), *listed]


def interface_type(stack: Stack, interface: PolicyResource) -> Any:
    """Return the type of a network interface resource; the default of EC2 is `interface`."""
    return stack.facts_of(interface.urn).get("interfaceType") or "interface"


def _primary(stack: Stack, instance: PolicyResource) -> Iterator[AttachedInterface]:
    path = ("primaryNetworkInterface", "networkInterfaceId")
    if stack.facts_of(instance.urn).get(*path) is not None:
        name, kind = _described(stack, instance, path)
        yield AttachedInterface(name, kind, 0, 0)


def _listed(stack: Stack, instance: PolicyResource) -> Iterator[AttachedInterface]:
    facts = stack.facts_of(instance.urn)
    for index in range(facts.count("networkInterfaces")):
        path = ("networkInterfaces", index)
        name, kind = _described(stack, instance, (*path, "networkInterfaceId"))
        card, device = facts.get(*path, "networkCardIndex"), facts.get(*path, "deviceIndex")
        yield AttachedInterface(name, kind, _number(card), _number(device))


def _described(
    stack: Stack, instance: PolicyResource, path: tuple[str | int, ...]
) -> tuple[str, Any]:
    """Return the name and the type; `UNKNOWN` if several resources of different types match."""
    reference = stack.refers(instance, *path, to=NETWORK_INTERFACE)
    found = reference.resources if reference else ()
    kinds = {interface_type(stack, each) for each in found}
    kind = kinds.pop() if len(kinds) == 1 else UNKNOWN
    return found[0].name if len(found) == 1 else f"{path[1]}", kind


def _number(value: Any) -> int | None:
    return None if value is UNKNOWN else whole_number(value) or 0


class Placed(Protocol):
    """A network interface with its position; `str()` of it names it in messages."""

    @property
    def type(self) -> Any:
        """`interface`, `efa`, `efa-only` or `UNKNOWN`."""
        ...

    @property
    def card(self) -> int | None:
        """Index of the network card; None if not known yet."""
        ...

    @property
    def device(self) -> int | None:
        """Index of the device on its card; None if not known yet."""
        ...


def layout_faults(
    interfaces: Sequence[Placed], instance_type: InstanceType | None
) -> Iterator[str]:
    """Yield what is wrong with the layout of all interfaces of one instance.

    Without an instance type, only the limits that apply to every type are checked.
    """
    yield from _primary_faults(interfaces)
    yield from _position_faults(interfaces)
    if instance_type is not None:
        for interface in interfaces:
            yield from _card_faults(interface, instance_type)


def _primary_faults(interfaces: Sequence[Placed]) -> Iterator[str]:
    primaries = [i for i in interfaces if (i.card, i.device) == (0, 0)]
    if not primaries and all(None not in (i.card, i.device) for i in interfaces):
        yield (
            "it has no network interface at card 0 device 0, which every instance needs; "
            "add one of type interface"
        )
    for primary in primaries:
        if primary.type == "efa-only":
            yield (
                f"{primary} is the primary and is efa-only, which has no IP address; "
                "set its interface_type to interface"
            )


def _position_faults(interfaces: Sequence[Placed]) -> Iterator[str]:
    positions = Counter((i.card, i.device) for i in interfaces if None not in (i.card, i.device))
    for (card, device), count in positions.items():
        if count > 1:
            yield (
                f"{count} network interfaces are at card {card} device {device}; "
                "give each its own device_index or network_card_index"
            )
    efa = Counter(i.card for i in interfaces if i.type in EFA_TYPES and i.card is not None)
    for card, count in efa.items():
        if count > 1:
            yield (
                f"network card {card} has {count} EFA interfaces and takes one; "
                "set network_card_index of the others to cards without one"
            )


def _card_faults(interface: Placed, instance_type: InstanceType) -> Iterator[str]:
    index, device = interface.card, interface.device
    if index is None:
        return
    if index >= len(instance_type.network_cards):
        yield (
            f"{interface}: {instance_type.name} has {len(instance_type.network_cards)} network "
            f"cards; set network_card_index to 0 … {len(instance_type.network_cards) - 1}"
        )
        return
    card = instance_type.network_cards[index]
    if device is not None and device >= card.maximum_interfaces:
        yield (
            f"{interface}: its card of {instance_type.name} has room for "
            f"{card.maximum_interfaces} interfaces; set device_index to 0 … "
            f"{card.maximum_interfaces - 1}"
        )
    if interface.type in EFA_TYPES and interface.type not in card.interface_types:
        yield (
            f"{interface}: its card of {instance_type.name} takes no {interface.type} "
            f"interface; use {' or '.join(card.interface_types)} there"
        )

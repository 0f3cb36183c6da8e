"""Where network interfaces may stand in an instance, whoever declares them.

Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_NetworkCardInfo.html
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from components.catalog.instance_type import InstanceType
from policies.launch import EFA_TYPES


class Placed(Protocol):
    """A network interface with its place; its text names it in messages."""

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
    """Yield what is wrong with the places of all interfaces of one instance.

    Without an instance type, only what holds for every type is judged.
    """
    yield from _primary(interfaces)
    yield from _places(interfaces)
    if instance_type is not None:
        for interface in interfaces:
            yield from _card(interface, instance_type)


def _primary(interfaces: Sequence[Placed]) -> Iterator[str]:
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


def _places(interfaces: Sequence[Placed]) -> Iterator[str]:
    places = Counter((i.card, i.device) for i in interfaces if None not in (i.card, i.device))
    for (card, device), count in places.items():
        if count > 1:
            yield (
                f"{count} network interfaces stand at card {card} device {device}; "
                "give each its own device_index or network_card_index"
            )
    efa = Counter(i.card for i in interfaces if i.type in EFA_TYPES and i.card is not None)
    for card, count in efa.items():
        if count > 1:
            yield (
                f"network card {card} has {count} EFA interfaces and takes one; "
                "set network_card_index of the others to cards without one"
            )


def _card(interface: Placed, instance_type: InstanceType) -> Iterator[str]:
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
            f"{interface}: card {index} of {instance_type.name} has room for "
            f"{card.maximum_interfaces} interfaces; set device_index to 0 … "
            f"{card.maximum_interfaces - 1}"
        )
    if interface.type in EFA_TYPES and interface.type not in card.interface_types:
        yield (
            f"{interface}: card {index} of {instance_type.name} takes no {interface.type} "
            f"interface; use {' or '.join(card.interface_types)} there"
        )

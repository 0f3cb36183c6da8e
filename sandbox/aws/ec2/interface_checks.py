"""EC2's validation of the network interfaces of a launch.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html and the network card
limits of DescribeInstanceTypes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.sandbox.aws.errors import refuse

Interface = Mapping[str, Any]
Slot = tuple[int, int]

EFA_TYPES = ("efa", "efa-only")

# Fields that assign an address, which is impossible without an ENA device.
_ADDRESS_FIELDS = (
    "AssociatePublicIpAddress",
    "PrivateIpAddress",
    "PrivateIpAddresses",
    "SecondaryPrivateIpAddressCount",
    "Ipv4PrefixCount",
    "Ipv4Prefixes",
    "Ipv6AddressCount",
    "Ipv6Addresses",
    "Ipv6PrefixCount",
    "Ipv6Prefixes",
)


def interface_type(interface: Interface) -> str:
    """Return `interface`, `efa` or `efa-only`."""
    return interface.get("InterfaceType") or "interface"


def slot(interface: Interface) -> Slot:
    """Return network card and device index; EC2's default card is 0."""
    return int(interface.get("NetworkCardIndex") or 0), int(interface.get("DeviceIndex") or 0)


def check_interfaces(
    instance_type: str, information: Mapping[str, Any], interfaces: Sequence[Interface]
) -> None:
    """Reject interfaces that the instance type does not support.

    Args:
        instance_type: Its name, for the message.
        information: Its DescribeInstanceTypes response.
        interfaces: As in RunInstances; may be empty.

    Raises:
        EC2ClientError: The first violated rule.
    """
    network = information["NetworkInfo"]
    for interface in interfaces:
        _check_card(instance_type, network, interface)
    _check_slots(interfaces)
    _check_efa_count(instance_type, network, interfaces)
    for interface in interfaces:
        _check_addresses(interface, len(interfaces))


def _check_card(instance_type: str, network: Mapping[str, Any], interface: Interface) -> None:
    kind = interface_type(interface)
    card_index, device_index = slot(interface)
    if kind in EFA_TYPES and not network.get("EfaSupported"):
        refuse(
            "InvalidParameterCombination",
            f"EFA interfaces are not supported on {instance_type}.",
        )
    cards = network["NetworkCards"]
    if not 0 <= card_index < len(cards):
        refuse(
            "InvalidParameterValue",
            f"The specified number '{card_index}' for the network card index exceeds the maximum "
            f"number supported by instance type {instance_type}. Specify a number from 0 to "
            f"{len(cards) - 1}, and try again.",
        )
    card = cards[card_index]
    # moto's data has the interface types of a card only where EC2 reports them.
    if kind not in card.get("InterfaceTypes", ["interface"]):
        refuse(
            "InvalidParameterCombination",
            f"Network card {card_index} of {instance_type} does not support interfaces of type "
            f"{kind}.",
        )
    limit = card["MaximumNetworkInterfaces"]
    if not 0 <= device_index < limit:
        refuse(
            "InvalidParameterValue",
            f"The specified number '{device_index}' for the device index exceeds the maximum "
            f"number supported by network card {card_index} of instance type {instance_type}. "
            f"Specify a number from 0 to {limit - 1}, and try again.",
        )


def _check_efa_count(
    instance_type: str, network: Mapping[str, Any], interfaces: Sequence[Interface]
) -> None:
    count = sum(interface_type(interface) in EFA_TYPES for interface in interfaces)
    limit = (network.get("EfaInfo") or {}).get("MaximumEfaInterfaces", 0)
    if count > limit:
        refuse(
            "AttachmentLimitExceeded",
            f"EFA interface count {count} exceeds the limit of {limit} for {instance_type}",
        )
    total = network["MaximumNetworkInterfaces"]
    if len(interfaces) > total:
        refuse(
            "AttachmentLimitExceeded",
            f"Interface count {len(interfaces)} exceeds the limit for {instance_type}",
        )


def _check_slots(interfaces: Sequence[Interface]) -> None:
    slots = [slot(interface) for interface in interfaces]
    if len(set(slots)) != len(slots):
        refuse(
            "InvalidParameterValue",
            "Each network interface requires a unique device index on its network card.",
        )
    if slots and (0, 0) not in slots:
        refuse(
            "InvalidParameterCombination",
            "When specifying network interfaces, you must include a device at index 0.",
        )
    for interface in interfaces:
        if slot(interface) == (0, 0) and interface_type(interface) == "efa-only":
            refuse(
                "InvalidParameterCombination",
                "The primary network interface cannot be of type efa-only.",
            )


def _check_addresses(interface: Interface, count: int) -> None:
    given = [field for field in _ADDRESS_FIELDS if interface.get(field)]
    if interface_type(interface) == "efa-only" and given:
        refuse(
            "InvalidParameterCombination",
            f"An interface of type efa-only takes no IP address; {given[0]} may not be specified.",
        )
    if count > 1 and "AssociatePublicIpAddress" in given:
        refuse(
            "InvalidParameterCombination",
            "The associatePublicIPAddress parameter cannot be specified when launching with "
            "multiple network interfaces.",
        )

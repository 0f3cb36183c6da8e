"""Network interfaces of launched instances, with type and network card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from moto.ec2.models.elastic_network_interfaces import Attachment, NetworkInterface

from trainyard.sandbox.aws.ec2.interface_checks import interface_type, slot


class LaunchedInterface(NetworkInterface):
    """An interface of a launch; `efa-only` ones have no address."""

    network_card_index: int

    @property
    def attachment(self) -> Attachment | None:
        """Its attachment, with the network card index, which moto leaves at 0."""
        attachment = super().attachment
        if attachment is not None:
            attachment.network_card_index = self.network_card_index
        return attachment

    @property
    def group_set(self) -> list[Any]:
        """Its own security groups; moto adds those of the instance."""
        return list(self._group_set)


def make_interface(
    ec2: Any, instance: Any, wanted: Mapping[str, Any], subnet: Any, group_ids: Sequence[str]
) -> LaunchedInterface:
    """Create an interface of an instance that is being launched.

    Args:
        ec2: moto's EC2 backend.
        instance: The instance; the subnet reserves the address for it.
        wanted: The interface as in RunInstances.
        subnet: Its subnet.
        group_ids: Its security groups; if empty, the VPC's default group.
    """
    kind = interface_type(wanted)
    address = None if kind == "efa-only" else _address(subnet, wanted, instance)
    # An interface without an address is created with one that is not reserved, because moto's
    # constructor requires one. moto's metaclass hides the class of the result from type checkers.
    interface: Any = LaunchedInterface(
        ec2,
        subnet,
        address or str(subnet.cidr.network_address),
        device_index=slot(wanted)[1],
        public_ip_auto_assign=wanted.get("AssociatePublicIpAddress", False),
        group_ids=list(group_ids),
        delete_on_termination=wanted.get("DeleteOnTermination", True),
        description=wanted.get("Description"),
    )
    interface.network_card_index = slot(wanted)[0]
    interface.interface_type = kind
    if address is None:
        interface.private_ip_address = None
        interface.private_ip_addresses = []
        interface.__dict__.pop("private_dns_name", None)
    elif hasattr(interface, "private_dns_name"):
        interface.private_dns_name = private_dns_name(address, ec2.region_name)
    ec2.enis[interface.id] = interface
    return interface


def private_dns_name(address: str, region: str) -> str:
    """Return the private host name for an address: `ip-10-0-1-2.us-west-2.…`.

    https://docs.aws.amazon.com/vpc/latest/userguide/vpc-dns.html
    """
    domain = "ec2.internal" if region == "us-east-1" else f"{region}.compute.internal"
    return f"ip-{address.replace('.', '-')}.{domain}"


def _address(subnet: Any, wanted: Mapping[str, Any], instance: Any) -> str:
    address = wanted.get("PrivateIpAddress")
    if address:
        subnet.request_ip(address, instance=instance)
        return address
    return subnet.get_available_subnet_ip(instance=instance)

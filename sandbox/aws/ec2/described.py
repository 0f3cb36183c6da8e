"""Fields of EC2's answers that moto's objects lack.

They are in all recorded answers of real accounts (`tests/witness/tables`). moto's serializer takes
a field from the attribute of the object that has its name.
"""

from __future__ import annotations

from typing import Any

from moto.ec2.models import elastic_block_store, route_tables, security_groups, subnets, vpcs
from moto.ec2.models.amis import Ami
from moto.ec2.models.availability_zones_and_regions import Zone
from moto.ec2.models.elastic_ip_addresses import ElasticAddress
from moto.ec2.models.elastic_network_interfaces import NetworkInterface

_GP3_MIBPS = 125
"""https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html#gp3-ebs-volume-type"""


def add_fields() -> None:
    """Add the fields to moto's classes."""
    for kind, fields in _FIELDS.items():
        for name, value in fields.items():
            setattr(kind, name, value)


def _region(thing: Any) -> str:
    return thing.ec2_backend.region_name


def _mappings(image: Any) -> list[dict[str, Any]]:
    """Return the block devices of an image, none of which is encrypted."""
    return [
        {**mapping, "Ebs": {"Encrypted": False, **mapping["Ebs"]}} for mapping in _MAPPINGS(image)
    ]


def _association(interface: Any) -> dict[str, Any] | None:
    """Return the public address of an interface, None if it has none."""
    return _ASSOCIATION(interface) or None


def _goes_with_its_instance(attachment: Any) -> bool:
    """Return whether an instance deletes a volume when it is terminated."""
    devices = getattr(attachment.instance, "block_device_mapping", {})
    return bool(getattr(devices.get(attachment.device), "delete_on_termination", False))


def _kept(name: str, default: Any) -> property:
    """Return a field that moto sets, and has as None where EC2 has a default."""
    place = f"_trainyard_{name}"

    def value(thing: Any) -> Any:
        given = getattr(thing, place, None)
        if given is not None:
            return given
        return default(thing) if callable(default) else default

    return property(value, lambda thing, given: setattr(thing, place, given))


_MAPPINGS: Any = Ami.block_device_mappings.fget  # type: ignore[attr-defined]
_ASSOCIATION: Any = NetworkInterface.association.fget  # type: ignore[attr-defined]
_FIELDS: dict[Any, dict[str, Any]] = {
    Zone: {
        "opt_in_status": "opt-in-not-required",
        "group_name": property(lambda zone: zone.region_name),
        "network_border_group": property(lambda zone: zone.region_name),
    },
    route_tables.RouteTable: {"propagating_vgws": []},
    ElasticAddress: {
        "instance_id": property(lambda address: address.instance.id if address.instance else None),
        "network_border_group": property(_region),
        "public_ipv4_pool": "amazon",
    },
    subnets.Subnet: {"enable_dns64": False, "map_customer_owned_ip_on_launch": False},
    vpcs.VPCEndPoint: {"requester_managed": False},
    elastic_block_store.Volume: {
        "snapshot_id": _kept("snapshot_id", ""),
        "multi_attach_enabled": _kept("multi_attach_enabled", default=False),
        "throughput": _kept(
            "throughput", lambda volume: _GP3_MIBPS if volume.volume_type == "gp3" else None
        ),
    },
    elastic_block_store.VolumeAttachment: {
        "delete_on_termination": property(_goes_with_its_instance)
    },
    security_groups.SecurityGroupRule: {
        "group_owner_id": property(lambda rule: rule.ec2_backend.account_id)
    },
    NetworkInterface: {
        "association": property(_association),
        "network_interface_id": property(lambda interface: interface.id),
    },
    Ami: {
        "block_device_mappings": property(_mappings),
        "ena_support": True,
        "usage_operation": "RunInstances",
    },
}

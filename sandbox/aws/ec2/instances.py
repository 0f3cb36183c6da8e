"""Launched instances and their network interfaces, as EC2 describes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from moto.ec2.models import elastic_block_store, route_tables, security_groups, subnets, vpcs
from moto.ec2.models.amis import Ami
from moto.ec2.models.availability_zones_and_regions import Zone
from moto.ec2.models.elastic_ip_addresses import ElasticAddress
from moto.ec2.models.elastic_network_interfaces import Attachment, NetworkInterface
from moto.ec2.models.instances import Instance

from trainyard.sandbox.aws.ec2.capacity_reservations import CapacityReservation
from trainyard.sandbox.aws.ec2.interface_checks import interface_type, slot
from trainyard.sandbox.aws.ec2.launch_request import LaunchRequest
from trainyard.sandbox.aws.ec2.placement_groups import placement_groups_of


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


class LaunchedInstance(Instance):
    """An instance of a launch.

    Attributes:
        capacity_reservation_id: The reservation in which it runs, or None.
        capacity_reservation_specification: The specification in its launch request.
    """

    def __init__(
        self,
        ec2: Any,
        launch: LaunchRequest,
        subnet: Any,
        reservation: CapacityReservation | None,
        index: int,
    ) -> None:
        self._launch = launch
        self._subnet = subnet
        parameters = launch.parameters
        super().__init__(
            ec2,
            launch.image_id or "",
            launch.user_data,
            _groups(ec2, launch, subnet),
            instance_type=launch.instance_type,
            region_name=ec2.region_name,
            subnet_id=subnet.id,
            key_name=parameters.get("KeyName"),
            ebs_optimized=bool(parameters.get("EbsOptimized", False)),
            metadata_options=parameters.get("MetadataOptions") or {},
            monitoring_state=(
                "enabled" if (parameters.get("Monitoring") or {}).get("Enabled") else "disabled"
            ),
            disable_api_termination=bool(parameters.get("DisableApiTermination", False)),
            instance_initiated_shutdown_behavior=parameters.get(
                "InstanceInitiatedShutdownBehavior"
            ),
            ami_launch_index=index,
            associate_public_ip=None,
            nics=launch.interfaces,
        )
        self.capacity_reservation_id = reservation.reservation_id if reservation else None
        target = dict(launch.reservation_target)
        self.capacity_reservation_specification = (
            {"CapacityReservationTarget": target}
            if target
            else {"CapacityReservationPreference": launch.reservation_preference}
        )
        self.lifecycle = launch.market_type
        self._place()
        self.add_tags({**launch.tags.get("instance", {}), **launch.template_tags})

    def prep_nics(self, *_: Any, **__: Any) -> None:
        """Create the requested interfaces, or the default primary one."""
        wanted = sorted(self._launch.interfaces or [{"DeviceIndex": 0}], key=slot)
        own = [group.id for group in self.security_groups]
        # moto expects the primary interface at key 0 and iterates over the others.
        self.nics = {}
        for position, each in enumerate(wanted):
            public = {"AssociatePublicIpAddress": self._subnet.map_public_ip_on_launch}
            interface = make_interface(
                self.ec2_backend,
                self,
                {**(public if len(wanted) == 1 else {}), **each},
                self.ec2_backend.get_subnet(each.get("SubnetId") or self._subnet.id),
                each.get("Groups") or ([] if self._launch.interfaces else own),
            )
            interface.add_tags(dict(self._launch.tags.get("network-interface", {})))
            self.attach_eni(interface, position)
            interface.device_index = slot(each)[1]
        self._private_ips = set()

    @property
    def instance_id(self) -> str:
        """Its id under EC2's name, which moto's DescribeInstanceStatus requires."""
        return self.id

    def _place(self) -> None:
        wanted = self._launch.parameters.get("Placement") or {}
        self._placement.tenancy = wanted.get("Tenancy") or "default"
        self._placement.availability_zone_id = self._subnet.availability_zone_id  # type: ignore[attr-defined] - EC2 shows it, moto's class lacks it
        if self._launch.placement_group:
            group = placement_groups_of(self.ec2_backend).named(self._launch.placement_group)
            self._placement.group_name = group["GroupName"]
            self._placement.group_id = group["GroupId"]  # type: ignore[attr-defined] - as above


def _groups(ec2: Any, launch: LaunchRequest, subnet: Any) -> list[Any]:
    ids = list(launch.parameters.get("SecurityGroupIds") or [])
    for interface in launch.interfaces:
        if slot(interface) == (0, 0):
            ids.extend(interface.get("Groups") or [])
    groups = [ec2.get_security_group_from_id(group_id) for group_id in ids]
    return groups or [ec2.get_default_security_group(subnet.vpc_id)]


# Fields of EC2's answers that moto's objects lack.
#
# They are in all recorded answers of real accounts (`tests/witness/tables`). moto's serializer
# takes a field from the attribute of the object that has its name.


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

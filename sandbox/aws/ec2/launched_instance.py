"""An instance as EC2 describes it: interfaces, placement, reservation, lifecycle."""

from __future__ import annotations

from typing import Any

from moto.ec2.models.instances import Instance

from trainyard.sandbox.aws.ec2.capacity_reservations import CapacityReservation
from trainyard.sandbox.aws.ec2.interface_checks import slot
from trainyard.sandbox.aws.ec2.interfaces import make_interface
from trainyard.sandbox.aws.ec2.launch_request import LaunchRequest
from trainyard.sandbox.aws.ec2.placement_groups import placement_groups_of


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

"""Launches: validated like EC2, then created in moto."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models.instances import Reservation
from moto.ec2.responses import EC2Response
from moto.ec2.utils import random_reservation_id
from moto.iam.models import iam_backends

from trainyard.sandbox.aws.ec2.capacity_reservations import (
    CapacityReservation,
    available_count,
    reservations_in_group,
    reservations_of,
)
from trainyard.sandbox.aws.ec2.instance_types import offered_zones, type_information
from trainyard.sandbox.aws.ec2.instances import LaunchedInstance
from trainyard.sandbox.aws.ec2.interface_checks import check_interfaces, interface_type
from trainyard.sandbox.aws.ec2.launch_request import LaunchRequest, merge
from trainyard.sandbox.aws.ec2.network_calls import known_group
from trainyard.sandbox.aws.ec2.placement_groups import placement_group_arn, placement_groups_of
from trainyard.sandbox.aws.errors import code_and_message, refuse
from trainyard.sandbox.faults.schedule import FAULTS


def check_image_and_key(ec2: Any, launch: LaunchRequest) -> None:
    """Reject a launch without an image, or with an image or key pair that does not exist.

    Raises:
        EC2ClientError: Names the missing object.
    """
    if not launch.image_id:
        refuse("MissingParameter", "The request must contain the parameter ImageId")
    if launch.image_id not in ec2.amis:
        refuse("InvalidAMIID.NotFound", f"The image id '[{launch.image_id}]' does not exist")
    key_name = launch.parameters.get("KeyName")
    if key_name and key_name not in ec2.key_pairs:
        refuse("InvalidKeyPair.NotFound", f"The key pair '{key_name}' does not exist")


def subnet_of(ec2: Any, launch: LaunchRequest) -> Any:
    """Return the subnet of the instances.

    Raises:
        EC2ClientError: Subnet and interfaces contradict each other, or the subnet does not exist.
    """
    top = launch.parameters.get("SubnetId")
    if launch.interfaces:
        if top:
            _not_together("an instance-level subnet ID")
        if launch.parameters.get("SecurityGroupIds") or launch.parameters.get("SecurityGroups"):
            _not_together("an instance-level security groups")
        named = {each["SubnetId"] for each in launch.interfaces if each.get("SubnetId")}
        subnets = [ec2.get_subnet(each) for each in sorted(named)]
        if len({subnet.availability_zone for subnet in subnets}) > 1:
            refuse(
                "InvalidParameterCombination",
                "All network interfaces must be in the same Availability Zone.",
            )
        primary = next(
            (each for each in launch.interfaces if not int(each.get("DeviceIndex") or 0)), {}
        )
        top = primary.get("SubnetId") or next(iter(sorted(named)), None)
    if top:
        return ec2.get_subnet(top)
    return _default_subnet(ec2, launch)


def _not_together(what: str) -> None:
    refuse(
        "InvalidParameterCombination",
        f"Network interfaces and {what} may not be specified on the same request",
    )


def _default_subnet(ec2: Any, launch: LaunchRequest) -> Any:
    zone = (launch.parameters.get("Placement") or {}).get("AvailabilityZone")
    defaults = ec2.get_default_subnets()
    fitting = [subnet for name, subnet in defaults.items() if zone in (None, name)]
    if not fitting:
        refuse("MissingInput", "No subnets found for the default VPC. Please specify a subnet.")
    return fitting[0]


def check_zone(ec2: Any, launch: LaunchRequest, zone: str) -> None:
    """Reject a type that the subnet's zone does not offer.

    Raises:
        EC2ClientError: `Unsupported`, with the zones that offer it.
    """
    wanted = (launch.parameters.get("Placement") or {}).get("AvailabilityZone")
    if wanted and wanted != zone:
        refuse(
            "InvalidParameterValue",
            f"The Availability Zone '{wanted}' does not match the zone '{zone}' of the subnet.",
        )
    zones = offered_zones(ec2, launch.instance_type)
    if zone not in zones:
        refuse(
            "Unsupported",
            f"Your requested instance type ({launch.instance_type}) is not supported in your "
            f"requested Availability Zone ({zone}). Please retry your request by not specifying "
            f"an Availability Zone or choosing {', '.join(zones)}.",
        )


def check_groups(ec2: Any, launch: LaunchRequest, subnet: Any) -> None:
    """Reject security groups that do not exist or belong to another VPC.

    Raises:
        EC2ClientError: The first such group.
    """
    for group_id in _group_ids(launch):
        group = known_group(ec2, group_id)
        if group.vpc_id != subnet.vpc_id:
            refuse(
                "InvalidParameter",
                f"Security group {group_id} and subnet {subnet.id} belong to different networks.",
            )


def _group_ids(launch: LaunchRequest) -> Sequence[str]:
    ids = list(launch.parameters.get("SecurityGroupIds") or [])
    for interface in launch.interfaces:
        ids.extend(interface.get("Groups") or [])
    return ids


def addresses_needed(launch: LaunchRequest) -> int:
    """Return the number of subnet addresses that one instance requires."""
    if not launch.interfaces:
        return 1
    return sum(
        1 + int(each.get("SecondaryPrivateIpAddressCount") or 0)
        for each in launch.interfaces
        if interface_type(each) != "efa-only"
    )


def check_addresses(launch: LaunchRequest, subnet: Any, count: int) -> None:
    """Reject a launch that requires more addresses than the subnet has available.

    Raises:
        EC2ClientError: `InsufficientFreeAddressesInSubnet`.
    """
    if count * addresses_needed(launch) > subnet.available_ip_address_count:
        refuse(
            "InsufficientFreeAddressesInSubnet",
            f"There are not enough free addresses in subnet '{subnet.id}' to satisfy the "
            "requested number of instances.",
        )


def instance_profile_of(ec2: Any, launch: LaunchRequest) -> Any:
    """Return moto's instance profile of the launch, or None if it has none.

    Raises:
        EC2ClientError: The profile does not exist.
    """
    wanted = launch.parameters.get("IamInstanceProfile") or {}
    profiles = list(iam_backends[ec2.account_id][ec2.partition].get_instance_profiles())
    for field, attribute, words in (
        ("Arn", "arn", "Invalid IAM Instance Profile ARN"),
        ("Name", "name", "Invalid IAM Instance Profile name"),
    ):
        if not wanted.get(field):
            continue
        for profile in profiles:
            if getattr(profile, attribute) == wanted[field]:
                return profile
        raise EC2ClientError(
            "InvalidParameterValue",
            f"Value ({wanted[field]}) for parameter iamInstanceProfile.{attribute} is invalid. "
            f"{words}",
        )
    return None


# The capacity of a launch: a targeted reservation, a matching open one, or none.
#
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-launch.html


_NO_CAPACITY = (
    "The requested reservation does not have sufficient compatible and available capacity for "
    "this request."
)
_WRONG_MARKET = (
    "The market type (purchasing) option is not valid. Choose a different market type and try again"
)


@dataclass(frozen=True)
class Capacity:
    """Capacity that a launch may use."""

    reservation: CapacityReservation | None
    count: int
    """Number of instances to launch, between the request's minimum and maximum."""


def choose_capacity(ec2: Any, launch: LaunchRequest, zone: str) -> Capacity:
    """Return the reservation that the launch uses and the number of its instances.

    Raises:
        EC2ClientError: The reservation cannot serve the launch.
    """
    target = launch.reservation_target
    _check_specification(launch)
    if "CapacityReservationId" in target:
        reservation = _targeted(ec2, target["CapacityReservationId"])
        _check_targeted(ec2, launch, zone, reservation)
        return _taken(ec2, launch, reservation)
    if "CapacityReservationResourceGroupArn" in target:
        return _from_group(ec2, launch, zone, target["CapacityReservationResourceGroupArn"])
    if launch.market_type == "capacity-block":
        refuse(
            "InvalidParameterCombination",
            "A capacity reservation target is required with the market type capacity-block.",
        )
    return _open_capacity(ec2, launch, zone)


def _check_specification(launch: LaunchRequest) -> None:
    specification = launch.parameters.get("CapacityReservationSpecification") or {}
    preference = specification.get("CapacityReservationPreference")
    target = launch.reservation_target
    if len(target) > 1:
        refuse(
            "InvalidParameterCombination",
            "Specify either a capacity reservation ID or a resource group ARN, and not both.",
        )
    if preference and target and preference != "capacity-reservations-only":
        refuse(
            "InvalidParameterCombination",
            "CapacityReservationPreference and CapacityReservationTarget cannot be specified "
            "together unless the preference is capacity-reservations-only.",
        )


def _targeted(ec2: Any, reservation_id: str) -> CapacityReservation:
    if not re.fullmatch(r"cr-[0-9a-f]{8,17}", reservation_id):
        refuse(
            "InvalidCapacityReservationId.Malformed",
            f"Invalid capacity reservation ID: '{reservation_id}'",
        )
    return reservations_of(ec2).with_id(reservation_id)


def _check_targeted(
    ec2: Any, launch: LaunchRequest, zone: str, reservation: CapacityReservation
) -> None:
    reservation_id = reservation.reservation_id
    is_block = reservation.reservation_type == "capacity-block"
    if is_block != (launch.market_type == "capacity-block") or launch.market_type == "spot":
        refuse("InvalidParameterValue", _WRONG_MARKET)
    if reservation.state != "active":
        refuse(
            "InvalidCapacityReservationState",
            f"The capacity reservation '{reservation_id}' is in the state '{reservation.state}'; "
            "instances can be launched only into one that is active.",
        )
    if reservation.instance_type != launch.instance_type:
        refuse(
            "InvalidParameterValue",
            f"The instance type '{launch.instance_type}' does not match the instance type "
            f"'{reservation.instance_type}' of the capacity reservation '{reservation_id}'.",
        )
    if reservation.availability_zone != zone:
        refuse(
            "InvalidParameterValue",
            f"The Availability Zone '{zone}' does not match the Availability Zone "
            f"'{reservation.availability_zone}' of the capacity reservation '{reservation_id}'.",
        )
    _check_placement(ec2, launch, zone, reservation)


def _check_placement(
    ec2: Any, launch: LaunchRequest, zone: str, reservation: CapacityReservation
) -> None:
    """Reject a block, or capacity of a placement group, for a launch into another group."""
    group = launch.placement_group
    if group is None:
        return
    arn = placement_group_arn(ec2.partition, ec2.region_name, ec2.account_id, group)
    placed = reservation.placement_group_arn or (
        "of the Capacity Block" if reservation.reservation_type == "capacity-block" else None
    )
    if placed not in (None, arn):
        others = sorted({each.name for each in ec2.describe_availability_zones()} - {zone})
        refuse(
            "InsufficientInstanceCapacity",
            f"We currently do not have sufficient {launch.instance_type} capacity in the "
            f"Availability Zone you requested ({zone}). Our system will be working on "
            f"provisioning additional capacity. You can currently get {launch.instance_type} "
            "capacity by not specifying an Availability Zone in your request or choosing "
            f"{', '.join(others)}.",
        )


def _taken(ec2: Any, launch: LaunchRequest, reservation: CapacityReservation) -> Capacity:
    available = 0 if reservation.terminates_instances else available_count(ec2, reservation)
    if available < launch.minimum_count:
        refuse("ReservationCapacityExceeded", _NO_CAPACITY)
    return Capacity(reservation, min(launch.maximum_count, available))


def _from_group(ec2: Any, launch: LaunchRequest, zone: str, group_arn: str) -> Capacity:
    found = reservations_in_group(ec2, group_arn)
    if launch.market_type == "capacity-block" and not any(
        each.reservation_type == "capacity-block" for each in found
    ):
        refuse("InvalidParameterValue", _WRONG_MARKET)
    for reservation in found:
        if _serves(ec2, launch, zone, reservation):
            _check_placement(ec2, launch, zone, reservation)
            return _taken(ec2, launch, reservation)
    if launch.market_type == "capacity-block" or _only_reserved(launch):
        refuse("ReservationCapacityExceeded", _NO_CAPACITY)
    # EC2 silently runs such an instance On-Demand.
    return Capacity(None, launch.maximum_count)


def _open_capacity(ec2: Any, launch: LaunchRequest, zone: str) -> Capacity:
    if launch.reservation_preference == "none" or launch.market_type == "spot":
        return Capacity(None, launch.maximum_count)
    for reservation in reservations_of(ec2).by_id.values():
        is_open = reservation.instance_match_criteria == "open"
        if is_open and _serves(ec2, launch, zone, reservation):
            return _taken(ec2, launch, reservation)
    if _only_reserved(launch):
        refuse("ReservationCapacityExceeded", _NO_CAPACITY)
    return Capacity(None, launch.maximum_count)


def _only_reserved(launch: LaunchRequest) -> bool:
    return launch.reservation_preference == "capacity-reservations-only"


def _serves(ec2: Any, launch: LaunchRequest, zone: str, reservation: CapacityReservation) -> bool:
    is_block = reservation.reservation_type == "capacity-block"
    return (
        is_block == (launch.market_type == "capacity-block")
        and reservation.instance_type == launch.instance_type
        and reservation.availability_zone == zone
        and available_count(ec2, reservation) >= launch.minimum_count
    )


# Scheduled faults in launches that Auto Scaling and Batch make for the user.
#
# AWS makes them with RunInstances in the user's account, so schedule entries for that call affect
# them too. The error appears as a scaling activity, or as a status reason of the compute
# environment.


def refuse_scheduled_launch() -> None:
    """Reject a launch if the schedule says so.

    Raises:
        EC2ClientError: the schedule says so.
    """
    refusal = None if FAULTS.is_empty else FAULTS.refusal("ec2", "RunInstances")
    if refusal is not None:
        refuse(refusal.code, refusal.message)


_ROOT_SIZE_GIB = 20
"""Root volume size of an EKS image if the launch does not specify one.

https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-ami.html
"""


def attach_block_devices(ec2: Any, instance: Any, launch: LaunchRequest) -> None:
    """Create and attach the volumes of a launch, and the image's root volume.

    Args:
        ec2: moto's EC2 backend.
        instance: The launched instance, already known to the backend.
        launch: Its launch; instance store mappings (`VirtualName`) create no volume.
    """
    mappings: dict[str, Mapping[str, Any]] = {instance.root_device_name: {}}
    for mapping in launch.parameters.get("BlockDeviceMappings") or []:
        if mapping.get("VirtualName") or mapping.get("NoDevice") is not None:
            continue
        mappings[mapping["DeviceName"]] = mapping.get("Ebs") or {}
    for device_name, ebs in mappings.items():
        volume = ec2.create_volume(
            size=int(ebs.get("VolumeSize") or _ROOT_SIZE_GIB),
            zone_name=instance.placement.zone,
            encrypted=bool(ebs.get("Encrypted", False)),
            kms_key_id=ebs.get("KmsKeyId"),
            volume_type=ebs.get("VolumeType") or "gp3",
            iops=ebs.get("Iops"),
            throughput=ebs.get("Throughput"),
        )
        volume.add_tags(dict(launch.tags.get("volume", {})))
        ec2.attach_volume(volume.id, instance.id, device_name, ebs.get("DeleteOnTermination", True))


@dataclass(frozen=True)
class CheckedLaunch:
    """A validated launch with the results of the checks."""

    request: LaunchRequest
    subnet: Any
    capacity: Capacity
    profile: Any


def check_launch(ec2: Any, launch: LaunchRequest) -> CheckedLaunch:
    """Perform all checks before a launch; a dry run ends here.

    Raises:
        EC2ClientError: The first problem.
    """
    subnet, profile = check_request(ec2, launch)
    capacity = choose_capacity(ec2, launch, subnet.availability_zone)
    check_addresses(launch, subnet, capacity.count)
    return CheckedLaunch(launch, subnet, capacity, profile)


def check_request(ec2: Any, launch: LaunchRequest) -> tuple[Any, Any]:
    """Perform the checks that do not depend on capacity, as Auto Scaling does for a template.

    Returns:
        moto's subnet and instance profile (None if the launch has none).

    Raises:
        EC2ClientError: The first problem.
    """
    information = type_information(ec2, launch.instance_type)
    check_image_and_key(ec2, launch)
    check_interfaces(launch.instance_type, information, launch.interfaces)
    subnet = subnet_of(ec2, launch)
    check_groups(ec2, launch, subnet)
    profile = instance_profile_of(ec2, launch)
    _check_market(launch, information["SupportedUsageClasses"])
    if launch.placement_group:
        group = placement_groups_of(ec2).named(launch.placement_group)
        _check_strategy(launch, group["Strategy"], information)
    check_zone(ec2, launch, subnet.availability_zone)
    return subnet, profile


def run(ec2: Any, checked: CheckedLaunch) -> Reservation:
    """Create the running instances of a checked launch."""
    result = Reservation(random_reservation_id(), ec2.account_id)
    ec2.reservations[result.id] = result
    for index in range(checked.capacity.count):
        instance: Any = LaunchedInstance(
            ec2, checked.request, checked.subnet, checked.capacity.reservation, index
        )
        result.instances.append(instance)
        attach_block_devices(ec2, instance, checked.request)
        if checked.profile is not None:
            ec2.associate_iam_instance_profile(
                instance.id, iam_instance_profile_arn=checked.profile.arn
            )
            # moto returns the association's id where EC2 returns the profile's.
            instance.iam_instance_profile = {"Arn": checked.profile.arn, "Id": checked.profile.id}
    return result


def _check_market(launch: LaunchRequest, usage_classes: list[str]) -> None:
    market = launch.market_type
    if market is not None and market not in usage_classes:
        refuse(
            "InvalidParameterValue",
            f"The market type '{market}' is not supported for the instance type "
            f"{launch.instance_type}. Choose a different market type and try again",
        )


def _check_strategy(launch: LaunchRequest, strategy: str, information: Any) -> None:
    supported = information["PlacementGroupInfo"]["SupportedStrategies"]
    if strategy not in supported:
        refuse(
            "InvalidParameterCombination",
            f"Placement groups with the strategy '{strategy}' are not supported by instances of "
            f"type {launch.instance_type}.",
        )


_UNAVAILABLE = ("InsufficientInstanceCapacity", "ReservationCapacityExceeded")
_NOT_ACTIVE = "InvalidCapacityReservationState"


class LaunchCalls(EC2Response):
    """Launches through the checks of `launches.py`; mixed into the response class."""

    def run_instances(self) -> ActionResult:
        """RunInstances; DryRun performs all checks except capacity, and launches nothing.

        Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_RunInstances.html. A
        capacity check would prevent updates of a cluster whose nodes fill a reservation, because
        ParallelCluster's validators launch each kind of node again as a dry run. It would also
        prevent the creation of a cluster whose Capacity Block has not started, which
        https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-capacity-blocks.html
        describes.
        """
        request = merge(self.ec2_backend, dict(self.params))
        try:
            checked = check_launch(self.ec2_backend, request)
        except EC2ClientError as error:
            code, _ = code_and_message(error)
            if code in _UNAVAILABLE or (code == _NOT_ACTIVE and self._starts_later(request)):
                self.error_on_dryrun()
            raise
        self.error_on_dryrun()
        return ActionResult(run(self.ec2_backend, checked))

    def _starts_later(self, request: LaunchRequest) -> bool:
        reservation_id = str(request.reservation_target["CapacityReservationId"])
        return reservations_of(self.ec2_backend).with_id(reservation_id).state == "scheduled"

    def create_fleet(self) -> ActionResult:
        """CreateFleet: rejected, because moto would launch without validation."""
        raise NotImplementedError("instances are launched by RunInstances and Auto Scaling only")

    def request_spot_instances(self) -> ActionResult:
        """RequestSpotInstances: like CreateFleet."""
        return self.create_fleet()

    def request_spot_fleet(self) -> ActionResult:
        """RequestSpotFleet: like CreateFleet."""
        return self.create_fleet()

    def create_network_interface(self) -> ActionResult:
        """CreateNetworkInterface: rejected for EFA, because moto does not store the type."""
        kind = self.params.get("InterfaceType") or "interface"
        if kind != "interface":
            raise NotImplementedError(f"interfaces of type {kind} are made by a launch only")
        return super().create_network_interface()

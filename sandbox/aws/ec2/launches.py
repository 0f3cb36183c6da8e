"""Launches: validated like EC2, then created in moto."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from moto.ec2.models.instances import Reservation
from moto.ec2.utils import random_reservation_id

from trainyard.sandbox.aws.ec2.capacity_checks import Capacity, choose_capacity
from trainyard.sandbox.aws.ec2.instance_types import type_information
from trainyard.sandbox.aws.ec2.interface_checks import check_interfaces
from trainyard.sandbox.aws.ec2.launch_checks import (
    check_addresses,
    check_groups,
    check_image_and_key,
    check_zone,
    instance_profile_of,
    subnet_of,
)
from trainyard.sandbox.aws.ec2.launch_request import LaunchRequest
from trainyard.sandbox.aws.ec2.launched_instance import LaunchedInstance
from trainyard.sandbox.aws.ec2.placement_groups import placement_groups_of
from trainyard.sandbox.aws.errors import refuse

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

"""EC2's validation of a launch before it selects capacity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.iam.models import iam_backends

from trainyard.sandbox.aws.ec2.instance_types import offered_zones
from trainyard.sandbox.aws.ec2.interface_checks import interface_type
from trainyard.sandbox.aws.ec2.launch_request import LaunchRequest
from trainyard.sandbox.aws.ec2.security_group_calls import known_group
from trainyard.sandbox.aws.errors import refuse


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

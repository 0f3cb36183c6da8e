"""Resource groups of capacity reservations, as targets of a launch.

moto has such groups but not their members, which are stored here.
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from moto.resourcegroups.models import resourcegroups_backends

from trainyard.sandbox.aws.ec2.capacity_reservations import CapacityReservation, reservations_of
from trainyard.sandbox.aws.errors import refuse
from trainyard.sandbox.aws.state import state_of


@dataclass
class GroupMembers:
    """ARNs of the members by group name, in the order in which they were added."""

    by_name: dict[str, list[str]] = field(default_factory=dict)


def group_members(ec2: Any) -> GroupMembers:
    """Return the members of the resource groups of an EC2 backend's account and region."""
    return state_of(ec2, GroupMembers)


def reservations_in_group(ec2: Any, group_arn: str) -> list[CapacityReservation]:
    """Return the reservations of a group.

    Raises:
        EC2ClientError: The group does not exist.
    """
    groups = resourcegroups_backends[ec2.account_id][ec2.region_name].groups
    names = [group.name for group in groups.by_arn.values() if group.arn == group_arn]
    if not names:
        refuse("InvalidResourceGroup.NotFound", f"The resource group '{group_arn}' does not exist.")
    reservations = {each.arn: each for each in reservations_of(ec2).by_id.values()}
    members = group_members(ec2).by_name.get(names[0], [])
    return [reservations[arn] for arn in members if arn in reservations]

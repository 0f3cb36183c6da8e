"""The placement groups and capacity reservations of the account."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from moto.resourcegroups.models import resourcegroups_backends

from trainyard.sandbox.account.fixture import moment
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.ec2.capacity_reservations import (
    CapacityReservation,
    group_members,
    reservations_of,
)
from trainyard.sandbox.aws.ec2.placement_groups import placement_group_arn, placement_groups_of
from trainyard.sandbox.aws.resource_shares import ResourceShare, shares_of

RESERVATION_POOL = [
    {"Type": "AWS::EC2::CapacityReservationPool"},
    {
        "Type": "AWS::ResourceGroups::Generic",
        "Parameters": [
            {"Name": "allowed-resource-types", "Values": ["AWS::EC2::CapacityReservation"]}
        ],
    },
]
"""Configuration of a group that instances can be launched into.

https://docs.aws.amazon.com/ARG/latest/APIReference/about-slg-types.html
"""


def load_placement_groups(ec2: Any, groups: Sequence[Mapping[str, str]]) -> None:
    """Make the account's own placement groups."""
    for group in groups:
        arn = placement_group_arn(ec2.partition, ec2.region_name, ec2.account_id, group["name"])
        placement_groups_of(ec2).add(group["name"], group["strategy"], arn, group["id"])


def load_reservations(ec2: Any, reservations: Sequence[Mapping[str, Any]]) -> None:
    """Make the reservations that the account sees, its own and shared ones."""
    for each in reservations:
        reservations_of(ec2).add(reservation(ec2, each))
        if "name" in each:
            ec2.create_tags([each["id"]], {"Name": each["name"]})


def reservation(ec2: Any, each: Mapping[str, Any]) -> CapacityReservation:
    """Return a reservation of the fixture."""
    start = CLOCK.now()
    zone_ids = {zone.name: zone.zone_id for zone in ec2.zones[ec2.region_name]}
    is_block = each.get("kind") == "capacity-block"
    return CapacityReservation(
        reservation_id=each["id"],
        owner_id=each.get("owner", ec2.account_id),
        region=ec2.region_name,
        availability_zone=each["zone"],
        availability_zone_id=zone_ids[each["zone"]],
        instance_type=each["type"],
        instance_count=each["count"],
        reservation_type="capacity-block" if is_block else "default",
        instance_match_criteria="targeted",
        created_at=min(start, moment(each["starts"], start)),
        starts_at=moment(each["starts"], start),
        ends_at=moment(each["ends"], start) if "ends" in each else None,
        placement_group_arn=_placement_group_arn(ec2, each),
    )


def load_resource_shares(ec2: Any, shares: Sequence[Mapping[str, Any]]) -> None:
    """Invite the account to shares of other accounts, with the reservations in them."""
    for each in shares:
        shares_of(ec2).add(
            ResourceShare(
                arn=each["arn"],
                name=each["name"],
                owner_id=each["owner"],
                reservations=tuple(
                    reservation(ec2, {"owner": each["owner"], **member})
                    for member in each["reservations"]
                ),
            )
        )


def load_reservation_groups(ec2: Any, groups: Sequence[Mapping[str, Any]]) -> None:
    """Make the resource groups that hold reservations, so that a launch can target them.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html
    """
    backend = resourcegroups_backends[ec2.account_id][ec2.region_name]
    for group in groups:
        # moto takes a group without a query as this.
        query: Any = None
        backend.create_group(group["name"], query, configuration=RESERVATION_POOL)
        members = [reservations_of(ec2).by_id[each].arn for each in group["members"]]
        group_members(ec2).by_name[group["name"]] = members


def _placement_group_arn(ec2: Any, reservation: Mapping[str, Any]) -> str | None:
    if "placement_group" in reservation:
        return placement_groups_of(ec2).named(reservation["placement_group"])["GroupArn"]
    return reservation.get("placement_group_arn")

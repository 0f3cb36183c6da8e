"""The placement groups and capacity reservations of the account."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sandbox.account.fixture import moment
from sandbox.aws.clock import CLOCK
from sandbox.aws.ec2.capacity_reservations import CapacityReservation, reservations_of
from sandbox.aws.ec2.placement_groups import placement_group_arn, placement_groups_of


def load_placement_groups(ec2: Any, groups: Sequence[Mapping[str, str]]) -> None:
    """Make the account's own placement groups."""
    for group in groups:
        arn = placement_group_arn(ec2.partition, ec2.region_name, ec2.account_id, group["name"])
        placement_groups_of(ec2).add(group["name"], group["strategy"], arn, group["id"])


def load_reservations(ec2: Any, reservations: Sequence[Mapping[str, Any]]) -> None:
    """Make the reservations that the account sees, its own and shared ones."""
    start = CLOCK.now()
    zone_ids = {zone.name: zone.zone_id for zone in ec2.zones[ec2.region_name]}
    for each in reservations:
        is_block = each.get("kind") == "capacity-block"
        reservations_of(ec2).add(
            CapacityReservation(
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
        )
        if "name" in each:
            ec2.create_tags([each["id"]], {"Name": each["name"]})


def _placement_group_arn(ec2: Any, reservation: Mapping[str, Any]) -> str | None:
    if "placement_group" in reservation:
        return placement_groups_of(ec2).named(reservation["placement_group"])["GroupArn"]
    return reservation.get("placement_group_arn")

"""The capacity of a launch: a targeted reservation, a matching open one, or none.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-launch.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from trainyard.sandbox.aws.ec2.capacity_reservations import (
    CapacityReservation,
    available_count,
    reservations_of,
)
from trainyard.sandbox.aws.ec2.launch_request import LaunchRequest
from trainyard.sandbox.aws.ec2.placement_groups import placement_group_arn
from trainyard.sandbox.aws.ec2.reservation_groups import reservations_in_group
from trainyard.sandbox.aws.errors import refuse

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

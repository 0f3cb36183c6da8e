"""Checks of the capacity reservations that a stack file names."""

from __future__ import annotations

from collections.abc import Iterator

from components.account.complete import group_zone, in_zone, private_subnets
from components.account.facts import AccountFacts, ReservationFacts
from components.account.reservations import LIST_GROUP_RESOURCES, reservation_ids
from components.config.eks import NodeGroup
from components.config.problems import ROOT, Problem
from components.config.reservations import CapacityBlock, Odcr, OdcrGroup, Reservation
from components.config.stack import StackConfig

USABLE_STATES = {
    "odcr": frozenset({"active"}),
    "capacity-block": frozenset({"active", "scheduled"}),
}
"""States in which a reservation can be used, now or when it begins.

https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html, `state`
"""
_KIND = {"odcr": "odcr", "odcr-group": "odcr", "capacity-block": "capacity-block"}
"""Kind of the reservations behind an entry, by the entry's."""
LINUX = "Linux/UNIX"
"""Platform of Amazon Linux; nodes of another platform do not launch into the reservation.

https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html
"""


def reservation_problems(config: StackConfig, facts: AccountFacts) -> Iterator[Problem]:
    """Yield what is wrong with the reservations, each against the node groups that use it."""
    if not facts.could_read("ec2:DescribeCapacityReservations"):
        return
    for name, reservation in config.reservations.items():
        path = f"{ROOT}.reservations.{name}"
        if isinstance(reservation, OdcrGroup) and reservation.group_arn is not None:
            yield from _group_faults(f"{path}.group_arn", reservation.group_arn, facts)
        usable: list[ReservationFacts] = []
        for reservation_id in reservation_ids(reservation, facts.reservation_groups):
            found = facts.reservations.get(reservation_id)
            faults = list(_faults(path, reservation_id, reservation, found, facts))
            yield from faults
            if found is not None and found.kind == _KIND[reservation.kind]:
                usable.append(found)
        if usable:
            yield from _use_problems(name, path, reservation, usable, config, facts)


def _group_faults(path: str, group_arn: str, facts: AccountFacts) -> Iterator[Problem]:
    if not facts.could_read(LIST_GROUP_RESOURCES):
        return
    members = facts.reservation_groups.get(group_arn)
    if not members:
        yield Problem(
            path=path,
            found=group_arn,
            problem=(
                "this group holds no capacity reservation"
                if members is not None
                else "this group does not exist in this account and region"
            ),
            remedy=(
                "give the ARN of a group of reservations (`aws resource-groups list-groups`), or "
                "`members` instead, from which the stack makes one"
            ),
        )


def _faults(
    path: str,
    reservation_id: str,
    asked: Reservation,
    found: ReservationFacts | None,
    facts: AccountFacts,
) -> Iterator[Problem]:
    key = _key(path, asked)
    if found is None:
        yield Problem(
            path=key,
            found=reservation_id,
            problem="this reservation does not exist in this account and region",
            remedy=(
                "copy the id from `aws ec2 describe-capacity-reservations`; a shared "
                "reservation must be accepted first (AWS RAM)"
            ),
        )
    elif found.kind != _KIND[asked.kind]:
        yield _wrong_kind(path, asked, found)
    else:
        yield from _own_problems(path, key, asked, found, facts)


def _key(path: str, asked: Reservation) -> str:
    if not isinstance(asked, OdcrGroup):
        return f"{path}.reservation_id"
    return f"{path}.{'members' if asked.members else 'group_arn'}"


def _wrong_kind(path: str, asked: Reservation, found: ReservationFacts) -> Problem:
    names = {"odcr": "an On-Demand Capacity Reservation", "capacity-block": "a Capacity Block"}
    in_group = isinstance(asked, OdcrGroup)
    return Problem(
        path=_key(path, asked) if in_group else f"{path}.kind",
        found=f"{found.reservation_id} is {names[found.kind]}",
        problem="the two are launched into differently: only a Capacity Block has a market type",
        allowed=f"kind: {found.kind} for this reservation",
        remedy=(
            f"take it out of the group, and give it an entry of its own, of kind {found.kind}"
            if in_group
            else f"set {path}.kind to {found.kind}, or give another reservation_id"
        ),
    )


def _own_problems(
    path: str, key: str, asked: Reservation, found: ReservationFacts, facts: AccountFacts
) -> Iterator[Problem]:
    if found.state not in USABLE_STATES[found.kind]:
        yield Problem(
            path=key,
            found=f"{found.reservation_id}, state {found.state}",
            problem="nothing launches into this reservation any more",
            allowed=f"a reservation that is {' or '.join(sorted(USABLE_STATES[found.kind]))}",
            remedy="give the id of another reservation",
        )
    zones = {found.availability_zone, found.zone_id}
    if asked.availability_zone is not None and asked.availability_zone not in zones:
        yield Problem(
            path=f"{path}.availability_zone",
            found=asked.availability_zone,
            problem=f"the reservation is in {found.availability_zone} ({found.zone_id})",
            remedy=f"set it to {found.availability_zone}",
        )
    if found.platform != LINUX:
        yield Problem(
            path=key,
            found=f"{found.reservation_id}, platform {found.platform}",
            problem="nodes run Amazon Linux; they do not launch into this reservation",
            allowed=f"a reservation of platform {LINUX}",
            remedy="give the id of a reservation of that platform",
        )
    if not isinstance(asked, CapacityBlock):
        yield from _placement_problems(path, asked, found, facts)


def _placement_problems(
    path: str, asked: Odcr | OdcrGroup, found: ReservationFacts, facts: AccountFacts
) -> Iterator[Problem]:
    if asked.provenance == "aws-assisted" or found.placement_group == asked.placement_group:
        return
    if found.placement_group is None:
        yield Problem(
            path=f"{path}.placement_group",
            found=asked.placement_group,
            problem=(
                "the reservation was not made in a placement group; a group on top of it gives "
                "InsufficientInstanceCapacity"
            ),
            remedy=f"remove {path}.placement_group",
        )
        return
    remedy = f"set {path}.placement_group to {found.placement_group}"
    if facts.account_id and found.owner_id != facts.account_id:
        remedy = f"set {path}.provenance to aws-assisted"
    yield Problem(
        path=f"{path}.placement_group",
        found=asked.placement_group or "none",
        problem=(
            f"the reservation of account {found.owner_id} was made in the placement group "
            f"{found.placement_group}; instances outside of it do not launch into it"
        ),
        remedy=remedy,
    )


def _use_problems(
    name: str,
    path: str,
    asked: Reservation,
    found: list[ReservationFacts],
    config: StackConfig,
    facts: AccountFacts,
) -> Iterator[Problem]:
    held = sum(reservation.instance_count for reservation in found)
    if asked.instance_count is not None and asked.instance_count > held:
        yield Problem(
            path=f"{path}.instance_count",
            found=asked.instance_count,
            problem=f"the reservation holds {held} instances",
            remedy=f"set it to {held}",
        )
    wanted = 0
    for group_name, group in config.architecture.node_groups.items():
        if group.purchase_option != name:
            continue
        wanted += group.desired
        yield from _group_problems(group_name, group, path, found, config, facts)
    # Where the file does not count more than there are, the plan compares with the same number.
    if held < wanted <= (asked.instance_count or 0):
        ids = ", ".join(reservation.reservation_id for reservation in found)
        yield Problem(
            path=path,
            found=f"{ids} with {held} instances",
            problem=f"the node groups that use it want {wanted} nodes together",
            remedy=f"lower desired to {held}, or give a larger reservation",
        )


def _group_problems(
    group_name: str,
    group: NodeGroup,
    reservation_path: str,
    found: list[ReservationFacts],
    config: StackConfig,
    facts: AccountFacts,
) -> Iterator[Problem]:
    path = f"{ROOT}.architecture.node_groups.{group_name}"
    ids = ", ".join(reservation.reservation_id for reservation in found)
    types = sorted({reservation.instance_type for reservation in found})
    if group.instance_type not in types:
        yield Problem(
            path=f"{path}.instance_type",
            found=group.instance_type,
            problem=f"{ids} reserves {', '.join(types)}",
            remedy=f"set instance_type to {types[0]}, or use another reservation",
        )
    zones = {reservation.availability_zone for reservation in found}
    if len(zones) == 1:
        yield from _zone_problems(path, group, reservation_path, found[0], config, facts)


def _zone_problems(
    path: str,
    group: NodeGroup,
    reservation_path: str,
    found: ReservationFacts,
    config: StackConfig,
    facts: AccountFacts,
) -> Iterator[Problem]:
    subnets = private_subnets(config, facts)
    chosen = facts.subnets.get(group.subnet_id or "")
    if chosen is not None and not in_zone(chosen, found.availability_zone):
        yield Problem(
            path=f"{path}.subnet_id",
            found=f"{chosen.subnet_id} in {chosen.availability_zone}",
            problem=f"nodes launch only in the zone of {found.reservation_id}",
            remedy=f"give a private subnet in {found.availability_zone}",
        )
    zone = group_zone(group, config, facts) or found.availability_zone
    if subnets and not any(in_zone(s, zone) for s in subnets):
        zones = ", ".join(sorted({s.availability_zone for s in subnets}))
        yield Problem(
            path=f"{ROOT}.network.private_subnet_ids",
            found=f"private subnets in {zones}",
            problem=(
                f"{found.reservation_id} ({reservation_path}) is in {zone}, where no private "
                "subnet is; nodes launch only in the zone of their reservation"
            ),
            remedy=f"add a private subnet of {zone} to private_subnet_ids",
        )

"""Checks of the capacity reservations in a stack file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from trainyard.components.account.facts import AccountFacts, ReservationFacts
from trainyard.components.account.reservations import (
    DESCRIBE,
    LIST_GROUP_RESOURCES,
    found_reservations,
    is_shared_later,
    kind_of,
    reservation_ids,
    reservations_of_kind,
)
from trainyard.components.capacity.succession import ended_at
from trainyard.components.checks.check import Subject
from trainyard.components.checks.created_reservation_check import created_problems, node_platform
from trainyard.components.checks.reservation_state_check import state_problems
from trainyard.components.checks.reservation_use_check import use_problems
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.config.reservations import CapacityBlock, Odcr, OdcrGroup, Reservation
from trainyard.components.config.stack import StackConfig


def reservation_problems(
    config: StackConfig, facts: AccountFacts, now: datetime
) -> Iterator[Problem]:
    """Yield problems of the reservations and of the nodes that use them.

    Those that are over are left out: EC2 forgets them some time after their end, and
    `reservation_state_check.over_problems` judges them.
    """
    if not facts.could_read(DESCRIBE):
        return
    for name, reservation in config.reservations.items():
        if ended_at(reservation, now) is not None:
            continue
        if isinstance(reservation, Odcr) and reservation.is_created:
            yield from created_problems(name, reservation, config, facts)
            continue
        if isinstance(reservation, OdcrGroup) and reservation.group_arn is not None:
            yield from _group_faults(f"{_path(name)}.group_arn", reservation.group_arn, facts)
        for reservation_id in reservation_ids(reservation, facts.reservation_groups):
            yield from _faults(name, reservation_id, reservation, config, facts)
        if usable := reservations_of_kind(reservation, facts):
            yield from use_problems(config.pools_with(name), usable, facts)


def _group_faults(path: str, group_arn: str, facts: AccountFacts) -> Iterator[Problem]:
    if not facts.could_read(LIST_GROUP_RESOURCES):
        return
    members = facts.reservation_groups.get(group_arn)
    if not members:
        yield Problem(
            path=path,
            found=group_arn,
            problem=(
                "this group contains no capacity reservation"
                if members is not None
                else "this group does not exist in this account and region"
            ),
            remedy=(
                "set the ARN of a group of reservations (`aws resource-groups list-groups`), or "
                "set `members` instead, from which the stack creates a group"
            ),
        )


def _path(name: str) -> str:
    return f"{ROOT}.reservations.{name}"


def _faults(
    name: str, reservation_id: str, asked: Reservation, config: StackConfig, facts: AccountFacts
) -> Iterator[Problem]:
    found, path = facts.reservations.get(reservation_id), _path(name)
    key = _key(path, asked)
    if found is None and is_shared_later(asked):
        return  # not visible before the stack accepts the share; there is a warning
    if found is None:
        yield Problem(
            path=key,
            found=reservation_id,
            problem="this reservation does not exist in this account and region",
            remedy=_remedy_of_unknown(path, asked),
        )
    elif found.kind != kind_of(asked):
        yield _wrong_kind(path, asked, found)
    else:
        yield from state_problems(key, found, config.pools_with(name))
        yield from _own_problems(path, asked, found, facts)
        yield from _platform_problems(key, found, config)


def _remedy_of_unknown(path: str, asked: Reservation) -> str:
    if isinstance(asked, CapacityBlock):
        keys = f"{path}.availability_zone, {path}.starts_at and {path}.ends_at"
        return (
            "copy the id from `./trainyard capacity list`. EC2 forgets a block some time after its "
            f"end: if a stack had nodes in it, set {keys} to those of the block"
        )
    return (
        "copy the id from `aws ec2 describe-capacity-reservations`; a shared reservation must be "
        "accepted first (AWS RAM)"
    )


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
        problem="launches into the two kinds differ: only a Capacity Block has a market type",
        allowed=f"kind: {found.kind} for this reservation",
        remedy=(
            f"remove it from the group, and add a separate entry of kind {found.kind}"
            if in_group
            else f"set {path}.kind to {found.kind}, or set another reservation_id"
        ),
    )


def _own_problems(
    path: str, asked: Reservation, found: ReservationFacts, facts: AccountFacts
) -> Iterator[Problem]:
    zones = {found.availability_zone, found.zone_id}
    if asked.availability_zone is not None and asked.availability_zone not in zones:
        yield Problem(
            path=f"{path}.availability_zone",
            found=asked.availability_zone,
            problem=f"the reservation is in {found.availability_zone} ({found.zone_id})",
            remedy=f"set it to {found.availability_zone}",
        )
    if isinstance(asked, CapacityBlock):
        yield from _end_problems(path, asked, found)
    else:
        yield from _placement_problems(path, asked, found, facts)


def _end_problems(path: str, asked: CapacityBlock, found: ReservationFacts) -> Iterator[Problem]:
    """Yield an end later than that of the block, when EC2 terminates the nodes.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-extend.html
    """
    if asked.ends_at is None or found.ends_at is None or asked.ends_at <= found.ends_at:
        return
    yield Problem(
        path=f"{path}.ends_at",
        found=str(asked.ends_at),
        problem="the block ends earlier: EC2 would terminate its nodes before they are drained",
        allowed=f"{found.ends_at} or earlier",
        remedy=(
            "remove it: the end is read from the account; or extend the block first, with "
            f"`./trainyard capacity extend {found.reservation_id}`"
        ),
    )


def _platform_problems(key: str, found: ReservationFacts, config: StackConfig) -> Iterator[Problem]:
    system, platform = config.architecture.node_system, node_platform(config)
    if found.platform != platform:
        yield Problem(
            path=key,
            found=f"{found.reservation_id}, platform {found.platform}",
            problem=f"nodes run {system}; they do not launch into this reservation",
            allowed=f"a reservation of platform {platform}",
            remedy="set the id of a reservation of that platform",
        )


def _placement_problems(
    path: str, asked: Odcr | OdcrGroup, found: ReservationFacts, facts: AccountFacts
) -> Iterator[Problem]:
    if asked.provenance == "auto":
        yield from _unread_group(path, found, facts)
        return
    if asked.provenance == "aws-assisted" or found.placement_group == asked.placement_group:
        return
    if found.placement_group is None:
        yield Problem(
            path=f"{path}.placement_group",
            found=asked.placement_group,
            problem=(
                "the reservation was not created in a placement group; a group in addition to it "
                "gives InsufficientInstanceCapacity"
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
            f"the reservation of account {found.owner_id} was created in the placement group "
            f"{found.placement_group}; instances outside of the group do not launch into the "
            "reservation"
        ),
        remedy=remedy,
    )


def _unread_group(path: str, found: ReservationFacts, facts: AccountFacts) -> Iterator[Problem]:
    """Yield a problem if `auto` is ambiguous and nodes must launch into a placement group."""
    if found.placement_group is None or found.placement_group_owner_id != facts.account_id:
        return
    yield Problem(
        path=f"{path}.provenance",
        found=f"{found.reservation_id}, created in the placement group {found.placement_group}",
        problem=(
            "`auto` sets the same placement group for all nodes of an entry, but the reservations "
            "of this entry were created in different ones"
        ),
        allowed="reservations of one placement group, or of none",
        remedy=f"add a separate entry for {found.reservation_id}",
    )


def reservation_subjects(config: StackConfig, facts: AccountFacts) -> Iterator[Subject]:
    """Yield what the checks of each reservation ask."""
    for name, reservation in config.reservations.items():
        found = "; ".join(_described(each) for each in found_reservations(reservation, facts))
        yield Subject(
            f"reservations.{name}",
            "exists, can be used, and fits the nodes",
            found or ("not created yet" if reservation.is_created else "not visible yet"),
            (DESCRIBE, LIST_GROUP_RESOURCES),
        )


def _described(found: ReservationFacts) -> str:
    kind = "Capacity Block" if found.kind == "capacity-block" else "ODCR"
    group = f", in placement group {found.placement_group}" if found.placement_group else ""
    count = "unknown number of" if found.known_count is None else found.known_count
    return (
        f"{found.reservation_id}: {kind}, {found.state}, {count} "
        f"{found.instance_type} in {found.availability_zone}, {found.platform}, of account "
        f"{found.owner_id}{group}"
    )

"""Checks of capacity reservations against the account: their state, their use, and created ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from trainyard.components.account.check import (
    NOTHING_FOUND,
    Check,
    Row,
    Subject,
    as_warnings,
    ok,
    skipped,
    warning,
)
from trainyard.components.account.facts import AccountFacts, PreflightFacts
from trainyard.components.account.known import Known
from trainyard.components.capacity.facts import (
    LATER,
    USABLE_STATES,
    InvitationFacts,
    ReservationFacts,
    UltraserverFacts,
    why_not_active,
)
from trainyard.components.capacity.launch_place import contradicted_zone, in_zone
from trainyard.components.capacity.lookup import DESCRIBE_BLOCK_STATUS, GET_INVITATIONS
from trainyard.components.capacity.plan import LINUX
from trainyard.components.capacity.reservations import (
    DESCRIBE,
    LIST_GROUP_RESOURCES,
    found_reservations,
    held_count,
    is_shared_later,
    kind_of,
    reservation_ids,
    reservations_of_kind,
)
from trainyard.components.capacity.timeline import ended_at, is_succeeded
from trainyard.components.catalog.capacity_blocks import ultraserver_sizes
from trainyard.components.catalog.parallelcluster import RESERVATION_PLATFORMS
from trainyard.components.config.node_pool import Pool
from trainyard.components.config.problems import ROOT, Problem, remove_command, set_command
from trainyard.components.config.reservations import CapacityBlock, Odcr, OdcrGroup, Reservation
from trainyard.components.config.stack import StackConfig


def state_problems(key: str, found: ReservationFacts, users: Sequence[Pool]) -> Iterator[Problem]:
    """Yield why nodes cannot launch into a reservation.

    A Capacity Block that has not started is no problem, because its nodes have a schedule. An ODCR
    that is not active yet is one only for nodes that launch during `up`.

    Args:
        key: Its key in the stack file.
        found: The reservation.
        users: The node pools that use it.
    """
    reason = why_not_active(found.state, found.starts_at)
    if reason is not None and found.state not in USABLE_STATES[found.kind]:
        if found.state not in LATER:
            yield _never(key, found, reason)
        elif found.kind == "capacity-block":
            yield _not_paid(key, found, reason)
        elif launching := [pool for pool in users if pool.at_once]:
            yield _not_yet(key, found, reason, launching)
    if found.interruptible:
        yield _interruptible(key, found)


def over_problems(config: StackConfig, now: datetime, *, stack_file: str) -> Iterator[Problem]:
    """Yield the reservations that are over, and that the pools which use them have no other for.

    They are problems of a stack that does not exist yet, and warnings about one that does.
    """
    for name, reservation in config.reservations.items():
        ended = ended_at(reservation, now)
        if ended is None or is_succeeded(config, name, now):
            continue
        key = f"{ROOT}.reservations.{name}"
        if isinstance(reservation, CapacityBlock):
            block = " ".join(filter(None, ("the Capacity Block", reservation.reservation_id)))
            reason = f"{block} has expired, and EC2 launches no instance into it"
            allowed = "a block that is scheduled or active"
            other = set_command(f"{key}.reservation_id", "cr-…", stack_file=stack_file)
            remedy = (
                f"buy another block and set its id: {other} (and `starts_at` and `ends_at`, if the "
                f"file has them); or remove the reservation and the {config.architecture.POOL_NOUN}"
                "s that use it"
            )
        else:
            reason = "EC2 has released the reservation, and creates none that is over"
            allowed = "a time in the future, or none"
            remedy = remove_command(f"{key}.ends_at", stack_file=stack_file)
        yield Problem(
            path=f"{key}.ends_at",
            problem=f"is in the past: {reason}",
            found=ended.isoformat(),
            allowed=allowed,
            remedy=remedy,
        )


def later_reservation_warnings(config: StackConfig, facts: AccountFacts) -> Iterator[str]:
    """Yield the On-Demand Capacity Reservations that are not active yet, for pools without nodes.

    The plan tells when a Capacity Block starts.
    """
    for name, reservation in config.reservations.items():
        for each in found_reservations(reservation, facts):
            if each.kind == "odcr" and each.state in LATER and not reservation.is_created:
                yield (
                    f"reservation {name}: EC2 launches no instance into {each.reservation_id} yet: "
                    f"{why_not_active(each.state, each.starts_at)}. Set the number of nodes and "
                    "run `up` when `./trainyard capacity list` shows it as active"
                )


def _never(key: str, found: ReservationFacts, reason: str) -> Problem:
    return Problem(
        path=key,
        found=f"{found.reservation_id}, state {found.state}",
        problem=f"EC2 launches no instances into this reservation: {reason}",
        allowed=f"a reservation that is {' or '.join(sorted(USABLE_STATES[found.kind]))}",
        remedy="set the id of another reservation",
    )


def _not_paid(key: str, found: ReservationFacts, reason: str) -> Problem:
    # https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-pricing-billing.html
    return Problem(
        path=key,
        found=f"{found.reservation_id}, state {found.state}",
        problem=reason,
        allowed="a block that is active or scheduled",
        remedy="run the command again when `./trainyard capacity list` shows it as scheduled",
    )


def _not_yet(key: str, found: ReservationFacts, reason: str, launching: Sequence[Pool]) -> Problem:
    keys = [f"{ROOT}.{each}" for pool in launching for each in pool.at_once_keys]
    until = f"set {' and '.join(keys)} to 0" if keys else "give its nodes another `purchase_option`"
    return Problem(
        path=key,
        found=f"{found.reservation_id}, state {found.state}",
        problem=(
            f"{', '.join(pool.name for pool in launching)} would launch nodes now, and EC2 "
            f"launches no instance into it before it is active; {reason}"
        ),
        allowed="a reservation that is active, or no nodes",
        remedy=(f"{until} until `./trainyard capacity list` shows the reservation as active"),
    )


def _interruptible(key: str, found: ReservationFacts) -> Problem:
    """Return the problem of a reservation that needs a market type which no pool has.

    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceMarketOptionsRequest.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/interruptible-capacity-reservations.html
    """
    return Problem(
        path=key,
        found=f"{found.reservation_id}, interruptible",
        problem=(
            "EC2 launches into it only with the market type `interruptible-capacity-reservation`, "
            "which stacks do not set; its owner can also take the instances back with two minutes' "
            "notice, which ends a training job on all nodes"
        ),
        allowed="a reservation that is not interruptible",
        remedy="set the id of another reservation; `./trainyard capacity list` shows the kind",
    )


# Checks of the nodes that use a capacity reservation: type, subnet, and stated values.
#
# The plan checks their number against `instance_count`, which the account completes.


STATED_VALUES = Subject(
    "reservations", "number and zone in the stack file match", NOTHING_FOUND, (DESCRIBE,)
)
"""What `stated_problems` checks."""


def use_problems(
    users: Sequence[Pool], found: list[ReservationFacts], facts: AccountFacts
) -> Iterator[Problem]:
    """Yield problems of the pools that use an entry of `reservations`.

    Args:
        users: The pools.
        found: The existing reservations of the entry.
        facts: The account.
    """
    yield from _type_problems(users, found)
    if len({reservation.availability_zone for reservation in found}) == 1:
        first = found[0]
        yield from subnet_problems(users, first.reservation_id, first.availability_zone, facts)


def _type_problems(users: Iterable[Pool], found: list[ReservationFacts]) -> Iterator[Problem]:
    ids = ", ".join(reservation.reservation_id for reservation in found)
    types = sorted({reservation.instance_type for reservation in found})
    for pool in users:
        if pool.instance_type not in types:
            yield Problem(
                path=f"{ROOT}.{pool.key}.instance_type",
                found=pool.instance_type,
                problem=f"{ids} reserves {', '.join(types)}",
                remedy=f"set instance_type to {types[0]}, or use another reservation",
            )


def subnet_problems(
    users: Iterable[Pool], reservation: str, zone: str, facts: AccountFacts
) -> Iterator[Problem]:
    """Yield the subnets of pools that are not in the zone of their reservation."""
    # The compute resources of a queue share its subnets.
    chosen = {pool.subnet_key: pool.subnet_ids for pool in users}
    for key, ids in chosen.items():
        for subnet in (facts.subnets[i] for i in ids if i in facts.subnets):
            if not in_zone(subnet, zone):
                yield Problem(
                    path=f"{ROOT}.{key}",
                    found=f"{subnet.subnet_id} in {subnet.availability_zone}",
                    problem=f"nodes launch only in the zone of {reservation}",
                    remedy=f"use a private subnet in {zone}",
                )


def stated_problems(given: StackConfig, facts: AccountFacts) -> Iterator[Problem]:
    """Yield numbers and zones in the stack file that differ from those of the reservations.

    `given` is the original stack file, because completed values come from the reservation.
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html,
    `availabilityZone`: capacity is reserved in one zone
    """
    for name, reservation in given.reservations.items():
        stated, found = reservation.instance_count, reservations_of_kind(reservation, facts)
        held = held_count(found)
        if found and stated is not None and held is not None and stated > held:
            yield Problem(
                path=f"{ROOT}.reservations.{name}.instance_count",
                found=stated,
                problem=f"the reservation has {held} instances",
                remedy=f"set it to {held}",
            )
    # The compute resources of a queue share its zone.
    places = {(pool.launch_key, pool.purchase_option): pool for pool in given.pools()}
    for pool in places.values():
        reserved = contradicted_zone(pool, given, facts)
        if reserved is not None:
            yield _other_zone(pool, reserved, given, facts)


def _other_zone(pool: Pool, reserved: str, given: StackConfig, facts: AccountFacts) -> Problem:
    found = found_reservations(given.reservations[pool.purchase_option], facts)
    ids = sorted({each.zone_id for each in found})
    return Problem(
        path=f"{ROOT}.{pool.launch_key}.availability_zone",
        found=pool.availability_zone,
        problem=f"the reservation `{pool.purchase_option}` is in {reserved}",
        allowed=f"{reserved} ({ids[0]})" if ids else reserved,
        remedy="remove `availability_zone`: the reservation determines it",
    )


# Checks of the reservations that a stack creates, or has created.
#
# EC2 changes the number of instances and the end of a reservation in place, but not its type,
# platform, zone or placement group.
#
# Sources:
#     https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ModifyCapacityReservation.html
#     https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html


def node_platform(config: StackConfig) -> str:
    """Return the platform of a reservation that the nodes of a stack launch into."""
    return RESERVATION_PLATFORMS.get(config.architecture.node_system, LINUX)


def created_problems(
    name: str, asked: Odcr, config: StackConfig, facts: AccountFacts
) -> Iterator[Problem]:
    """Yield problems of a reservation that the stack creates.

    Args:
        name: Its entry in the stack file.
        asked: The entry, completed with the id if the reservation exists.
        config: The stack file.
        facts: The account.
    """
    users = config.pools_with(name)
    if asked.availability_zone is not None:
        zone = asked.availability_zone
        yield from subnet_problems(users, f"reservation `{name}`", zone, facts)
    found = facts.reservations.get(asked.reservation_id or "")
    if found is None:
        return
    if asked.deletion_protection:
        yield from _replacements(name, asked, users, found, config)
    yield from _fewer_than_used(name, asked, found)


def _replacements(
    name: str, asked: Odcr, users: Sequence[Pool], found: ReservationFacts, config: StackConfig
) -> Iterator[Problem]:
    entry = f"reservations.{name}"
    system = "architecture.operating_system"
    fixed = [
        *((f"{pool.key}.instance_type", pool.instance_type, found.instance_type) for pool in users),
        (f"{entry}.availability_zone", asked.availability_zone, found.availability_zone),
        (f"{entry}.placement_group", asked.placement_group, found.placement_group),
        (system, node_platform(config), found.platform),
    ]
    for key, wanted, has in fixed:
        if wanted != has:
            yield Problem(
                path=f"{ROOT}.{key}",
                found=wanted or "none",
                problem=(
                    f"the stack has created {found.reservation_id} with {has or 'none'}, which EC2 "
                    "cannot change; a new reservation needs capacity of its own, and the old one "
                    "is protected from release"
                ),
                allowed=has or "no placement group",
                remedy=(
                    f"set it back; or add an entry with `create: true` for the new nodes; or, to "
                    f"release {found.reservation_id} first, set {entry}.deletion_protection to "
                    "false"
                ),
            )


def _fewer_than_used(name: str, asked: Odcr, found: ReservationFacts) -> Iterator[Problem]:
    """Yield a number of instances below those in use: nodes must leave first."""
    wanted, free = asked.instance_count, found.available_count
    if wanted is None or free is None:
        return
    used = found.instance_count - free
    if wanted < used:
        yield Problem(
            path=f"{ROOT}.reservations.{name}.instance_count",
            found=wanted,
            problem=(
                f"{used} instances run in {found.reservation_id}, and the reservation is changed "
                "before any of them is terminated"
            ),
            allowed=f"at least {used} until nodes are terminated",
            remedy=f"run `up` with fewer nodes and {found.instance_count} instances first",
        )


def reservation_problems(
    config: StackConfig, facts: AccountFacts, now: datetime
) -> Iterator[Problem]:
    """Yield problems of the reservations and of the nodes that use them.

    Those that are over are left out: EC2 forgets them some time after their end, and
    `over_problems` judges them.
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


# Rows for share invitations, free capacity and health of reservations.
#
# Nothing is refused here, because this state changes: shares are accepted and nodes terminate, and
# the stack's own nodes can use the capacity.


FREE = "has capacity for the nodes now"


SHARED = "its resource share is accepted"


RUNS = "is active now"


HEALTHY = "the interconnect and the instances of its UltraServer are healthy"


READ = "its placement group can be read from the account"


def reservation_rows(
    config: StackConfig, facts: AccountFacts, more: PreflightFacts, now: datetime
) -> Iterator[Row]:
    """Yield rows on the state of each reservation."""
    for name, reservation in config.reservations.items():
        key = f"reservations.{name}"
        found = found_reservations(reservation, facts)
        yield from _share_rows(key, reservation, found, facts, more)
        if found:
            yield from _time_rows(key, found, now)
            yield from _health_rows(key, found, more)
            yield _address_row(key, name, found, config)


def provenance_rows(asked: StackConfig, completed: StackConfig) -> Iterator[Row]:
    """Yield the result of each `provenance: auto`."""
    for name, reservation in asked.reservations.items():
        found = completed.reservations[name]
        if isinstance(reservation, CapacityBlock) or isinstance(found, CapacityBlock):
            continue
        key = f"reservations.{name}.provenance"
        if reservation.provenance == "auto" and found.provenance == "auto":
            yield warning(key, READ, "unknown: nodes are planned without a placement group")
        elif reservation.provenance == "auto":
            group = f"group {found.placement_group}" if found.placement_group else "no group"
            yield ok(key, READ, f"{found.provenance}: nodes launch into {group}")


def _share_rows(
    key: str,
    asked: Reservation,
    found: list[ReservationFacts],
    facts: AccountFacts,
    more: PreflightFacts,
) -> Iterator[Row]:
    if isinstance(asked, CapacityBlock):
        return
    foreign = {each.owner_id for each in found if each.owner_id != facts.account_id}
    if found:
        if foreign and facts.account_id:
            yield ok(
                key,
                SHARED,
                f"visible in this account; owned by account {', '.join(sorted(foreign))}",
            )
        return
    reason = more.why_not(GET_INVITATIONS)
    waiting = [each for each in more.invitations if each.status == "PENDING"]
    if reason is not None:
        yield skipped(key, SHARED, reason)
    elif asked.resource_share_arn is not None:
        yield _invitation_row(key, asked.resource_share_arn, more)
    elif waiting and facts.could_read(DESCRIBE):
        yield warning(key, SHARED, f"not visible in this account; {_waiting(waiting)}")


def _invitation_row(key: str, share: str, more: PreflightFacts) -> Row:
    named = next((each for each in more.invitations if each.share_arn == share), None)
    if named is None:
        none = (
            f"this account has no invitation to {share}; its owner must share it with this account"
        )
        return warning(key, SHARED, none)
    if named.status == "PENDING":
        sender = named.sender_id
        return ok(key, SHARED, f"the invitation of account {sender} is pending; `up` accepts it")
    return warning(
        key,
        SHARED,
        f"the invitation is {named.status}, but the reservation is not visible in this account",
    )


def _waiting(invitations: list[InvitationFacts]) -> str:
    named = ", ".join(f"{each.share_name} of account {each.sender_id}" for each in invitations)
    arn = invitations[0].share_arn
    return (
        f"pending invitations that can contain it: {named}. Set resource_share_arn ({arn}), or "
        "accept it with `aws ram accept-resource-share-invitation`"
    )


def _time_rows(key: str, found: list[ReservationFacts], now: datetime) -> Iterator[Row]:
    for each in found:
        reason = why_not_active(each.state, each.starts_at)
        if reason is not None:
            yield warning(key, RUNS, f"no node launches into {each.reservation_id}: {reason}")
        elif each.ends_at is not None and now < each.ends_at:
            left = each.ends_at - now
            hours = int(left.total_seconds() // 3600)
            until = (
                f"{each.reservation_id} until {_time_text(each.ends_at)}, {hours} hours from now"
            )
            yield (ok if hours >= 1 else warning)(key, RUNS, until)


def _health_rows(key: str, found: list[ReservationFacts], more: PreflightFacts) -> Iterator[Row]:
    """Yield the health of UltraServers that have started.

    EC2 leaves the instances of one that is impaired as they are, until they are terminated and a
    support case is open.
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
    """
    for each in found:
        is_ultraserver = each.kind == "capacity-block" and ultraserver_sizes(each.instance_type)
        if not is_ultraserver or each.state != "active":
            continue
        health = more.ultraservers.get(each.reservation_id)
        reason = more.why_not(DESCRIBE_BLOCK_STATUS)
        if health is None:
            missing = f"EC2 reports no status of {each.reservation_id}"
            yield skipped(key, HEALTHY, reason or missing)
        elif health.interconnect == "insufficient-data":
            yield skipped(key, HEALTHY, "EC2 has not enough data about its interconnect")
        elif health.interconnect != "ok" or health.unavailable:
            yield warning(key, HEALTHY, _unhealthy(each.reservation_id, health))
        else:
            yield ok(key, HEALTHY, f"interconnect ok, {health.instances} instances")


def _unhealthy(reservation_id: str, health: UltraserverFacts) -> str:
    return (
        f"interconnect {health.interconnect}, {health.unavailable} of {health.instances} instances "
        f"of {reservation_id} unavailable: jobs on all its nodes fail. EC2 repairs it only when "
        "all its instances are terminated: set the number of nodes to 0, run `up`, and open a case "
        "with AWS Support"
    )


def _address_row(key: str, name: str, found: list[ReservationFacts], config: StackConfig) -> Row:
    wanted = sum(pool.wanted for pool in config.pools_with(name))
    counted = [each for each in found if each.available_count is not None]
    if not counted:
        return skipped(key, FREE, "EC2 did not return the number of available instances")
    free = sum(each.available_count or 0 for each in counted)
    held = held_count(found)
    if held is None:
        return skipped(key, FREE, "EC2 does not show the number of instances before the start")
    numbers = f"{free} of {held} are available, {wanted} needed"
    if all(each.state in LATER for each in found):
        return ok(key, FREE, f"{held} instances from its start, {wanted} needed")
    if free >= wanted:
        return ok(key, FREE, numbers)
    return warning(
        key,
        FREE,
        f"{numbers}; sufficient if nodes of this stack use the others, otherwise nodes wait",
    )


def _time_text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def reservation_checks(known: Known[Any, Any]) -> Iterator[Check]:
    """Yield the check of the reservations and of the nodes that use them."""
    config, facts = known.config, known.facts
    problems = [*reservation_problems(config, facts, known.now)]
    if not known.is_up:
        over = over_problems(config, known.now, stack_file=known.stack_file)
        problems = [*over, *problems]
    yield Check("reservations", problems, reservation_subjects(config, facts))


def stated_value_checks(known: Known[Any, Any]) -> Iterator[Check]:
    """Yield the check of what the stack file says of reservations."""
    if known.config.reservations:
        stated = stated_problems(known.given, known.facts)
        yield Check("values of reservations", stated, [STATED_VALUES])


def reservation_warnings(known: Known[Any, Any]) -> Iterator[str]:
    """Yield warnings about reservations that are over, and that are not active yet."""
    if known.is_up:
        over = over_problems(known.config, known.now, stack_file=known.stack_file)
        yield from as_warnings(over)
    yield from later_reservation_warnings(known.config, known.facts)


def live_reservation_rows(known: Known[Any, Any]) -> Iterator[Row]:
    """Yield rows on the provenance and on the state of each reservation."""
    yield from provenance_rows(known.given, known.config)
    yield from reservation_rows(known.config, known.facts, known.more, known.now)

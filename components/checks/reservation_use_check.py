"""Checks of the nodes that use a capacity reservation: type, subnet, and stated values.

The plan checks their number against `instance_count`, which the account completes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from trainyard.components.account.facts import AccountFacts, ReservationFacts
from trainyard.components.account.launch_place import contradicted_zone, in_zone
from trainyard.components.account.reservations import (
    DESCRIBE,
    found_reservations,
    held_count,
    reservations_of_kind,
)
from trainyard.components.checks.check import NOTHING_FOUND, Subject
from trainyard.components.config.pools import Pool
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.config.stack import StackConfig

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

"""Checks of the nodes that use a capacity reservation: number, type and zone."""

from __future__ import annotations

from collections.abc import Iterator

from components.account.facts import AccountFacts, ReservationFacts
from components.account.launch_place import in_zone, pool_zone, private_subnets
from components.config.pools import Pool, pools
from components.config.problems import ROOT, Problem
from components.config.reservations import Reservation
from components.config.stack import StackConfig


def use_problems(
    name: str,
    path: str,
    asked: Reservation,
    found: list[ReservationFacts],
    config: StackConfig,
    facts: AccountFacts,
) -> Iterator[Problem]:
    """Yield problems of the pools that use an entry of `reservations`.

    Args:
        name: Name of the entry.
        path: Key of the entry in the stack file.
        asked: The entry.
        found: Its existing reservations.
        config: The stack file.
        facts: The account.
    """
    held = sum(reservation.instance_count for reservation in found)
    if asked.instance_count is not None and asked.instance_count > held:
        yield Problem(
            path=f"{path}.instance_count",
            found=asked.instance_count,
            problem=f"the reservation holds {held} instances",
            remedy=f"set it to {held}",
        )
    users = [pool for pool in pools(config) if pool.purchase_option == name]
    for pool in users:
        yield from _pool_problems(pool, path, found, config, facts)
    wanted = sum(pool.wanted for pool in users)
    # If the file does not state more than the account has, the plan already checks this number.
    if held < wanted <= (asked.instance_count or 0):
        ids = ", ".join(reservation.reservation_id for reservation in found)
        yield Problem(
            path=path,
            found=f"{ids} with {held} instances",
            problem=(
                f"the {config.architecture.POOL_NOUN}s that use it want {wanted} nodes together"
            ),
            remedy=f"lower {_last(users[0].wanted_key)} to {held}, or give a larger reservation",
        )


def _last(key: str) -> str:
    return key.rpartition(".")[2]


def _pool_problems(
    pool: Pool,
    reservation_path: str,
    found: list[ReservationFacts],
    config: StackConfig,
    facts: AccountFacts,
) -> Iterator[Problem]:
    ids = ", ".join(reservation.reservation_id for reservation in found)
    types = sorted({reservation.instance_type for reservation in found})
    if pool.instance_type not in types:
        yield Problem(
            path=f"{ROOT}.{pool.key}.instance_type",
            found=pool.instance_type,
            problem=f"{ids} reserves {', '.join(types)}",
            remedy=f"set instance_type to {types[0]}, or use another reservation",
        )
    zones = {reservation.availability_zone for reservation in found}
    if len(zones) == 1:
        yield from _zone_problems(pool, reservation_path, found[0], config, facts)


def _zone_problems(
    pool: Pool,
    reservation_path: str,
    found: ReservationFacts,
    config: StackConfig,
    facts: AccountFacts,
) -> Iterator[Problem]:
    subnets = private_subnets(config, facts)
    chosen = [facts.subnets[i] for i in pool.subnet_ids if i in facts.subnets]
    for subnet in chosen:
        if not in_zone(subnet, found.availability_zone):
            yield Problem(
                path=f"{ROOT}.{pool.subnet_key}",
                found=f"{subnet.subnet_id} in {subnet.availability_zone}",
                problem=f"nodes launch only in the zone of {found.reservation_id}",
                remedy=f"give a private subnet in {found.availability_zone}",
            )
    zone = pool_zone(pool, config, facts) or found.availability_zone
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

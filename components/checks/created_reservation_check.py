"""Checks of the reservations that a stack creates, or has created.

EC2 changes the number of instances and the end of a reservation in place, but not its type,
platform, zone or placement group.

Sources:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ModifyCapacityReservation.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.components.account.facts import AccountFacts, ReservationFacts
from trainyard.components.capacity.plan import LINUX
from trainyard.components.catalog.parallelcluster import RESERVATION_PLATFORMS
from trainyard.components.checks.reservation_use_check import subnet_problems
from trainyard.components.config.pools import Pool
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.config.reservations import Odcr
from trainyard.components.config.stack import StackConfig


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

"""Checks of whether nodes can launch into a reservation now, later, or never."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from trainyard.components.account.facts import AccountFacts, ReservationFacts
from trainyard.components.account.reservation_states import LATER, USABLE_STATES, why_not_active
from trainyard.components.account.reservations import found_reservations
from trainyard.components.capacity.succession import ended_at, is_succeeded
from trainyard.components.config.pools import Pool
from trainyard.components.config.problems import ROOT, Problem, remove_command, set_command
from trainyard.components.config.reservations import CapacityBlock
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

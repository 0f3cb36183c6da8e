"""`capacity release`: give an On-Demand Capacity Reservation back."""

from __future__ import annotations

from collections.abc import Iterator

import typer
from botocore.exceptions import BotoCoreError, ClientError

from trainyard.capacity import block_purchase
from trainyard.capacity.place import capacity_account, region_of
from trainyard.capacity.reservation_list import (
    CANCEL,
    ListedReservation,
    listed_reservations,
    release_problems,
    stacks_by_reservation,
)
from trainyard.cli import console, failures
from trainyard.commands.capacity.list_ import known_stacks
from trainyard.components import clock
from trainyard.components.account.call_failures import explained
from trainyard.components.account.reader import AccountReader
from trainyard.components.capacity.facts import OVER
from trainyard.components.capacity.lookup import look_up_reservation
from trainyard.components.config.problems import ConfigError
from trainyard.workspace.target import Account


def release(reservation_id: str, account: Account, *, region: str, confirm: str) -> None:
    """Cancel a reservation after the user has typed its id.

    Raises:
        ConfigError: it cannot be released; the error lists every problem.
        WrongUseError: it does not exist, or the release is not confirmed.
        CommandError: EC2 refuses the call.
    """
    with capacity_account(account):
        reader = account.reader(region_of(region, account))
        stacks = stacks_by_reservation(
            (each.stack_file for each in known_stacks(account)), reader.region
        )
        listed = listed_reservations(reader, stacks, clock.now())
        found = next((e for e in listed if e.facts.reservation_id == reservation_id), None)
        if found is None:
            denied = f" (AWS denies {'; '.join(reader.not_read())})" if reader.unreadable else ""
            raise failures.WrongUseError(
                f"{reservation_id} does not exist in {reader.region}{denied}; `./trainyard "
                "capacity list` shows the reservations of a region"
            )
        if found.facts.state in OVER:
            console.answer(f"{reservation_id} is {found.facts.state} already")
            return
        problems = [*release_problems(found, clock.now())]
        if problems:
            raise ConfigError(problems, stack_file="capacity release")
        _show(found)
        _confirm(reservation_id, account, given=confirm)
        _cancel(reader, reservation_id)
    console.answer(f"released {reservation_id}")


def _show(found: ListedReservation) -> None:
    facts = found.facts
    where = f"{facts.instance_type} in {facts.availability_zone}"
    lines = [
        f"{facts.reservation_id}: {found.kind}, {where}, {found.use}",
        *(f"  used by {owner}: {', '.join(ids)}" for owner, ids in found.holders.items()),
        *(f"  named in the stack file of {stack}" for stack in found.stacks),
        *(_created_by(found.creator) if found.creator else ()),
        "  Its capacity is gone at once, and EC2 may not have it again. Its instances go on at the",
        "  On-Demand price; instances that target it cannot start again.",
    ]
    console.note("\n".join(lines))


def _created_by(stack: str) -> Iterator[str]:
    """Yield what to do with the stack of a reservation, which does not notice its release."""
    yield f"  created by the stack {stack}, whose next nodes fail to launch without it. If the"
    yield f"  stack still exists, run `./trainyard refresh {stack}` afterwards: its next `up`"
    yield "  creates the reservation again while the entry is in its file."


def _confirm(reservation_id: str, account: Account, *, given: str) -> None:
    if given:
        if given != reservation_id:
            raise failures.WrongUseError(f"--confirm is {given}, not {reservation_id}")
        return
    if not console.at_a_terminal():
        raise failures.WrongUseError(
            "nothing was released: confirm it with\n"
            f"  ./trainyard capacity release {reservation_id} --confirm {reservation_id}"
            f"{account.option}"
        )
    typed = typer.prompt(f"\nType {reservation_id} to release it", err=True)
    if typed.strip() != reservation_id:
        raise failures.CancelledError("this is not its id; nothing was released")


def _cancel(reader: AccountReader, reservation_id: str) -> None:
    do = reader.ec2.cancel_capacity_reservation
    refusal = block_purchase.dry_run(CANCEL, do, CapacityReservationId=reservation_id)
    if refusal:
        raise failures.CommandError(f"nothing was released: {refusal}")
    try:
        # Unlike a purchase, this call may be repeated.
        do(CapacityReservationId=reservation_id)
    except (ClientError, BotoCoreError) as error:
        found = look_up_reservation(reader, reservation_id)
        if found is None or found.state not in OVER:
            raise failures.CommandError(explained(CANCEL, error)) from error

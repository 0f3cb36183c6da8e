"""`capacity list`: every reservation of the account."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from trainyard.capacity.place import capacity_account, region_of
from trainyard.capacity.reservation_list import (
    ListedReservation,
    fees_by_reservation,
    listed_reservations,
    stacks_by_reservation,
)
from trainyard.capacity.wording import both, money
from trainyard.cli import console, failures, options
from trainyard.cli.panel import LOG_WIDTH, plain
from trainyard.components import clock
from trainyard.components.capacity.facts import LATER, state_text
from trainyard.sandboxes.session import holds_stack
from trainyard.stack_files.installation import INSTALLATION
from trainyard.stack_files.stack_files import StackFileError, names_in
from trainyard.stack_files.stacks_directory import stacks_directory
from trainyard.workspace.target import Account, Target


def list_reservations(regions: Sequence[str], account: Account, *, as_json: bool) -> None:
    """Print the reservations of the account in some regions.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    with capacity_account(account):
        given = regions or (region_of("", account),)
        found = [each for region in given for each in _listed(region, account)]
    if as_json:
        console.answer_json([each.as_json() for each in found])
        return
    if not found:
        console.answer(f"no reservations in {', '.join(given)}")
        return
    width = None if sys.stdout.isatty() else LOG_WIDTH
    Console(highlight=False, width=width).print(_table(found))


def _listed(region: str, account: Account) -> list[ListedReservation]:
    reader = account.reader(region)
    stack_files = [each.stack_file for each in known_stacks(account)]
    found = listed_reservations(
        reader,
        stacks_by_reservation(stack_files, region),
        clock.now(),
        fees=fees_by_reservation(stack_files),
    )
    if reader.unreadable and not found:
        raise failures.WrongUseError(f"AWS denies {'; '.join(reader.not_read())}")
    for line in reader.not_read():
        console.progress(f"not read: {line}")
    for what, why in reader.left_out.items():
        console.progress(f"left out: {what}: {why}")
    return found


def known_stacks(account: Account) -> Iterator[Target]:
    """Yield the stacks of the user; of the examples, those that the sandbox has deployed.

    In an account, an example names no reservations.
    """
    directory = stacks_directory()
    shipped = INSTALLATION.examples
    names = [] if directory == shipped else names_in(directory)
    if account.is_sandbox:
        names += [name for name in names_in(shipped) if name not in names and holds_stack(name)]
    for name in names:
        try:
            yield options.target(name, path=None, sandbox=account.is_sandbox)
        except StackFileError as error:
            console.problem(str(error))


def _table(found: Sequence[ListedReservation]) -> Table:
    table = Table(box=box.SIMPLE)
    table.add_column("Reservation", no_wrap=True)
    table.add_column("Instances", overflow="fold")
    table.add_column("State", overflow="fold")
    for each in found:
        facts = each.facts
        instances = [
            f"{facts.instance_type} in {facts.availability_zone}",
            each.use,
            _stacks_of(each),
        ]
        table.add_row(
            plain(f"{facts.reservation_id}\n{each.kind}"),
            plain("\n".join(instances)),
            plain("\n".join([state_text(facts.state), *_times(each), *_money(each)])),
        )
        table.add_section()
    return table


def _stacks_of(each: ListedReservation) -> str:
    if each.creator is not None:
        return f"created by stack {each.creator}"
    return f"stack: {', '.join(each.stacks)}" if each.stacks else "no stack file names it"


def _money(each: ListedReservation) -> Iterator[str]:
    if each.fee_usd is None:
        return
    fee = money(each.fee_usd, "USD")
    yield f"paid {fee}" + ("" if each.left_usd is None else f", {each.left_usd:,.2f} USD left")


def _times(each: ListedReservation) -> Iterator[str]:
    facts = each.facts
    if facts.starts_at is not None and facts.state in LATER:
        yield f"{'asked for' if facts.state == 'delayed' else 'starts'} {both(facts.starts_at)}"
    if facts.ends_at is not None:
        left = "" if each.hours_left is None else f", {each.hours_left:g} h left"
        yield f"{'ends' if left else 'ended'} {both(facts.ends_at)}{left}"

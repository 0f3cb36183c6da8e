"""`capacity buy`: a Capacity Block for a stack, bought at most once."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from trainyard.capacity import block_purchase
from trainyard.capacity.block_purchase import (
    EXPECTED_ID,
    PURCHASE,
    STACK_TAG,
    answered_block,
    bought_block,
    confirm_price,
    look_up,
    purchase_arguments,
    recent_blocks,
)
from trainyard.capacity.offerings import Offering
from trainyard.capacity.place import capacity_account, records_of
from trainyard.capacity.records import Purchase, Records
from trainyard.capacity.stack_entry import (
    BlockEntry,
    UneditableError,
    check_block,
    chosen_entry,
    described,
    text_with_block,
)
from trainyard.capacity.wording import both
from trainyard.cli import console, failures
from trainyard.components import clock
from trainyard.components.account.call_failures import UNREPEATED
from trainyard.components.account.reader import AccountReader
from trainyard.components.capacity.facts import USABLE_STATES, ReservationFacts
from trainyard.components.capacity.lookup import look_up_reservation
from trainyard.components.capacity.schedule import nodes_leave_before_end
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.config.problems import ConfigError
from trainyard.stack_files.files import refuse_unwritable, write_whole
from trainyard.stack_files.stack_files import StackFile
from trainyard.stack_files.stack_outline import capacity_blocks_of
from trainyard.workspace.session import work_alone
from trainyard.workspace.target import Target

_BOUGHT_STATES = (*USABLE_STATES["capacity-block"], "payment-pending")
"""States of a block that nodes can use, now or later."""


def checked(buyer: Buyer, offering: Offering, entry: BlockEntry) -> Iterator[str]:
    """Check the stack with a block, and return what it does with it.

    Raises:
        ConfigError: the stack cannot use the block; the error lists every problem.
        UneditableError: the block cannot be written into the stack file.
    """
    found = check_block(buyer.target, offering, entry)
    return described(buyer.stack_file, offering, entry, found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Buyer:
    """A command that buys a block for a stack."""

    target: Target
    """With its file as it is in the directory, not completed."""
    records: Records
    reader: AccountReader
    check: Callable[[Buyer, Offering, BlockEntry], Iterable[str]]
    """Checks the stack with a block, and returns what it does with it."""

    @property
    def stack_file(self) -> StackFile:
        """The file of the stack."""
        return self.target.stack_file

    def buy(self, offering_id: str, *, entry: str, price: str) -> None:
        """Buy an offering, or complete the purchase that an earlier command has begun.

        Raises:
            ConfigError: the stack cannot use the block; the error lists every problem.
            WrongUseError: the offering is not known, or the price is another one.
            CommandError: EC2 refuses the purchase, or it is unknown what it did.
        """
        begun = self.records.unfinished(self.stack_file.stack)
        if begun is not None and self._completes(begun):
            if begun.offering.offering_id != offering_id:
                raise failures.CommandError(
                    f"{offering_id} was not bought, because an earlier purchase was not completed. "
                    "Run the command again to buy a second block"
                )
            return
        self._refuse_unknown_block()
        offering = self._offering(offering_id)
        chosen = self._entry(entry, offering)
        self._show(offering, chosen)
        again = self._again(offering_id, entry)
        confirm_price(offering.fee, offering.currency, given=price, again=again)
        self._buy(offering, chosen)

    def _again(self, offering_id: str, entry: str) -> str:
        options = self.target.options
        options += f" --entry {shlex.quote(entry)}" if entry else ""
        return f"./trainyard capacity buy {offering_id} --for {self.stack_file.stack}{options}"

    def _completes(self, begun: Purchase) -> bool:
        """Return whether an earlier purchase has bought a block; then it is written down."""
        console.progress(
            f"an earlier purchase of {begun.offering.offering_id} for {begun.subject} has no "
            "recorded result"
        )
        found = self._looked_up(begun)
        if found is None:
            console.progress("it has bought nothing")
            self.records.end(begun.subject)
            return False
        self._write(begun, found)
        return True

    def _looked_up(self, purchase: Purchase) -> ReservationFacts | None:
        return look_up(purchase, self.reader, lambda: bought_block(self.reader, purchase))

    def _refuse_unknown_block(self) -> None:
        """Refuse a purchase if a recent one for this stack is not in the stack file.

        Raises:
            CommandError: there is one.
        """
        stack, region = self.stack_file.stack, self.stack_file.region
        entries = capacity_blocks_of(self.stack_file).values()
        known = {each.get("reservation_id") for each in entries}
        for block, bought_at in recent_blocks(self.reader, stack, clock.now()):
            if block.reservation_id in known or block.state not in _BOUGHT_STATES:
                continue
            remove = f"aws ec2 delete-tags --region {region} --resources {block.reservation_id}"
            raise failures.CommandError(
                f"nothing was bought: {block.reservation_id} was bought for {stack} at "
                f"{both(bought_at)}, and {self.stack_file.path} does not name it. Set the "
                "`reservation_id` of an entry of `reservations` to it; if the block is for "
                f"something else, remove its tag: {remove} --tags Key={STACK_TAG}"
            )

    def _offering(self, offering_id: str) -> Offering:
        offering = records_of(self.target.account).offering(offering_id)
        option = self.target.account.option
        search = f"./trainyard capacity search --stack {self.stack_file.stack}{option}"
        if offering is None:
            raise failures.WrongUseError(
                f"{offering_id} is not among the offerings that a search has found here; EC2 tells "
                f"price and times of an offering only in a search: {search} --type … --nodes … "
                "--days …"
            )
        if offering.starts_at <= clock.now():
            raise failures.WrongUseError(
                f"{offering_id} has started at {both(offering.starts_at)}; search again: {search} "
                f"--type {offering.instance_type} --nodes {offering.nodes} --days …"
            )
        if offering.ultraserver is not None:
            _check_ultraserver(offering, search)
        if offering.region != self.stack_file.region:
            raise failures.WrongUseError(
                f"{offering_id} is in {offering.region}, and {self.stack_file.name} is in "
                f"{self.stack_file.region}; search with --regions {self.stack_file.region}"
            )
        if offering.account_id != self.reader.account_id():
            raise failures.WrongUseError(
                f"{offering_id} was offered to the account {offering.account_id}, and the "
                f"credentials are of {self.reader.account_id()}; search again"
            )
        return offering

    def _entry(self, asked: str, offering: Offering) -> BlockEntry:
        chosen = chosen_entry(
            self.stack_file,
            asked,
            self._usable_until,
            instance_type=offering.node_type,
            starts_at=offering.starts_at,
        )
        if isinstance(chosen, BlockEntry):
            return chosen
        raise ConfigError([chosen], stack_file=self.stack_file.name)

    def _usable_until(self, reservation_id: str) -> str | None:
        if not reservation_id or reservation_id == EXPECTED_ID:
            return None
        found = look_up_reservation(self.reader, reservation_id)
        if found is None or found.state not in _BOUGHT_STATES:
            return None
        ends = found.ends_at
        leave = nodes_leave_before_end(found.instance_type)
        if ends is not None and ends - clock.now() <= leave:
            return None
        return f"({reservation_id})" if ends is None else f"until {both(ends)} ({reservation_id})"

    def _show(self, offering: Offering, entry: BlockEntry) -> None:
        """Print what is bought, and what the stack does with it."""
        refuse_unwritable(self.stack_file.path)  # it gets the id of what is paid
        try:
            lines = self.check(self, offering, entry)
        except UneditableError as error:
            raise failures.WrongUseError(
                f"{self.stack_file.path}: {error}; nothing was bought. Write it as in "
                "Pulumi.p5-cb.yaml"
            ) from error
        console.note("\n".join(lines))

    def _buy(self, offering: Offering, entry: BlockEntry) -> None:
        purchase = Purchase(
            purchase_id=secrets.token_hex(16),
            subject=self.stack_file.stack,
            offering=offering,
            entry=entry.name,
            is_new_entry=entry.is_new,
            asked_at=clock.now(),
        )
        # boto3 would repeat a request without an answer, and buy twice.
        ec2 = self.target.account.client("ec2", offering.region, UNREPEATED)
        arguments = purchase_arguments(purchase)
        refusal = block_purchase.dry_run(PURCHASE, ec2.purchase_capacity_block, **arguments)
        if refusal:
            raise failures.CommandError(f"nothing was bought: {refusal}")
        self.records.begin(purchase)
        answer = block_purchase.purchased(PURCHASE, ec2.purchase_capacity_block, **arguments)
        if answer.refusal:
            self.records.end(purchase.subject)
            raise failures.CommandError(f"nothing was bought: {answer.refusal}")
        if answer.result is not None:
            self._write(purchase, answered_block(answer.result))
            return
        console.progress(answer.silence)
        found = self._looked_up(purchase)
        if found is None:
            self.records.end(purchase.subject)
            raise failures.CommandError("nothing was bought; run the command again")
        self._write(purchase, found)

    def _write(self, purchase: Purchase, found: ReservationFacts) -> None:
        """Write a bought block into the stack file, and end the record of its purchase."""
        path, name = self.stack_file.path, purchase.entry
        # An earlier command may have written a new entry before it was killed.
        is_new = purchase.is_new_entry and name not in capacity_blocks_of(self.stack_file)
        try:
            text = text_with_block(
                self.stack_file, purchase.offering, BlockEntry(name, is_new), found.reservation_id
            )
        except UneditableError as error:
            self.records.end(purchase.subject)
            raise failures.CommandError(
                f"{found.reservation_id} was bought, but it is not in {path}: {error}. Set "
                f"`reservations.{name}.reservation_id` to {found.reservation_id} there"
            ) from error
        write_whole(path, text)
        records_of(self.target.account).forget(purchase.offering.offering_id)
        self.records.end(purchase.subject)
        console.answer(f"bought {found.reservation_id}: `reservations.{name}` in {path}")
        if found.state == "payment-pending":
            console.note(
                "AWS processes the payment, usually within minutes and at most 12 hours; `up` "
                "accepts the block when `capacity list` shows it as scheduled"
            )
        for line in self._next():
            console.note(line)

    def _next(self) -> Sequence[str]:
        commands = (
            f"./trainyard capacity list{self.target.account.option}",
            self.target.command("check") + " --live",
            self.target.command("up"),
        )
        return ["next:", *(f"  {each}" for each in commands)]


def _check_ultraserver(offering: Offering, search: str) -> None:
    """Refuse what no entry of a stack file can be.

    Raises:
        WrongUseError: several UltraServers, or a type that is not in the catalog.
    """
    if offering.node_type not in INSTANCE_TYPES:
        raise failures.WrongUseError(
            f"{offering.offering_id} is of {offering.instance_type}, whose instances, "
            f"{offering.node_type}, no stack can use (docs/capacity.md#ultraservers)"
        )
    if offering.nodes > 1:
        raise failures.WrongUseError(
            f"{offering.offering_id} is of {offering.nodes} UltraServers, and each is a Capacity "
            f"Block of its own; buy them one by one: {search} --type {offering.instance_type} "
            "--nodes 1 --days …"
        )


def buy(
    offering_id: str,
    target: Target,
    *,
    entry: str,
    price: str,
    check: Callable[[Buyer, Offering, BlockEntry], Iterable[str]],
) -> None:
    """Buy an offering for a stack, and write it into the stack file.

    Args:
        offering_id: Of EC2.
        target: The stack, with its file as it is in the directory, not completed.
        entry: Name of the entry in `reservations`; empty to choose it.
        price: The price that the user has typed; empty to ask for it.
        check: As in `Buyer`.
    """
    with capacity_account(target.account):
        work_alone(target, "capacity buy")
        Buyer(
            target=target,
            records=records_of(target.account, target.stack_file),
            reader=target.reader(),
            check=check,
        ).buy(offering_id, entry=entry, price=price)

"""`capacity extend`: a later end for a Capacity Block, bought at most once."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from trainyard.capacity import block_purchase
from trainyard.capacity.block_purchase import confirm_price, look_up
from trainyard.capacity.extension import (
    PURCHASE_EXTENSION,
    bought_extension,
    extension_offerings,
    extension_problems,
)
from trainyard.capacity.offerings import Offering
from trainyard.capacity.place import capacity_account, records_of, region_of
from trainyard.capacity.records import Purchase, Records
from trainyard.capacity.wording import both, money
from trainyard.cli import console, failures
from trainyard.cli.command_line import at_the_end
from trainyard.commands.capacity.list_ import known_stacks
from trainyard.components import clock
from trainyard.components.account.call_failures import UNREPEATED
from trainyard.components.account.reader import AccountReader
from trainyard.components.capacity.facts import ReservationFacts
from trainyard.components.capacity.lookup import look_up_reservation
from trainyard.components.config.problems import ConfigError
from trainyard.stack_files.stack_outline import capacity_blocks_of
from trainyard.workspace.locks import hold_lock, release_lock
from trainyard.workspace.target import Account


@dataclass(frozen=True, slots=True, kw_only=True)
class Extender:
    """A command that extends one block."""

    reservation_id: str
    account: Account
    records: Records
    reader: AccountReader

    def extend(self, hours: int, *, price: str) -> None:
        """Buy an extension, or complete the purchase that an earlier command has begun.

        Raises:
            ConfigError: the block cannot be extended; the error lists every problem.
            WrongUseError: the reservation does not exist, or the price is another one.
            CommandError: EC2 has no extension or refuses it, or it is unknown what it did.
        """
        begun = self.records.unfinished(self.reservation_id)
        if begun is not None and self._completes(begun):
            return
        found = look_up_reservation(self.reader, self.reservation_id)
        if found is None:
            raise failures.WrongUseError(
                f"{self.reservation_id} does not exist in {self.reader.region}; "
                "`./trainyard capacity list` shows the reservations of a region"
            )
        problems = [*extension_problems(found, hours, self.reader.account_id(), clock.now())]
        if problems:
            raise ConfigError(problems, stack_file="capacity extend")
        offers = extension_offerings(self.reader, found, hours)
        if not offers:
            raise failures.CommandError(
                f"EC2 offers no extension of {self.reservation_id} by {hours // 24} days: it has "
                "not enough free instances then. Try fewer days, or search for another block"
            )
        self._show(found, offers[0])
        again = (
            f"./trainyard capacity extend {self.reservation_id} --hours {hours}"
            f"{self.account.option}"
        )
        confirm_price(offers[0].fee, offers[0].currency, given=price, again=again)
        self._buy(offers[0])

    def _completes(self, begun: Purchase) -> bool:
        """Return whether an earlier purchase has extended the block."""
        console.progress(f"an earlier extension of {begun.subject} has no recorded result")
        status = self._looked_up(begun)
        if status is None:
            console.progress("it has bought nothing")
            self.records.end(begun.subject)
            return False
        self._tell(begun, status)
        return True

    def _looked_up(self, purchase: Purchase) -> str | None:
        return look_up(purchase, self.reader, lambda: bought_extension(self.reader, purchase))

    def _show(self, found: ReservationFacts, offering: Offering) -> None:
        price = money(offering.fee, offering.currency)
        console.note(
            f"{found.reservation_id}: {offering.nodes} x {offering.instance_type} in "
            f"{offering.zone}\n"
            f"  from {both(offering.starts_at)}\n"
            f"  to   {both(offering.ends_at)}\n"
            f"  {price} for {offering.hours:g} hours, {offering.node_hour:.2f} a node and hour\n"
            "  The price is paid now, and AWS neither cancels nor refunds it."
        )

    def _buy(self, offering: Offering) -> None:
        purchase = Purchase(
            purchase_id=secrets.token_hex(16),
            subject=self.reservation_id,
            offering=offering,
            asked_at=clock.now(),
        )
        # boto3 would repeat a request without an answer, and buy twice.
        ec2 = self.account.client("ec2", offering.region, UNREPEATED)
        do = ec2.purchase_capacity_block_extension
        arguments = {
            "CapacityBlockExtensionOfferingId": offering.offering_id,
            "CapacityReservationId": self.reservation_id,
        }
        refusal = block_purchase.dry_run(PURCHASE_EXTENSION, do, **arguments)
        if refusal:
            raise failures.CommandError(f"nothing was bought: {refusal}")
        self.records.begin(purchase)
        answer = block_purchase.purchased(PURCHASE_EXTENSION, do, **arguments)
        if answer.refusal:
            self.records.end(purchase.subject)
            raise failures.CommandError(f"nothing was bought: {answer.refusal}")
        if answer.result is not None:
            bought = answer.result["CapacityBlockExtensions"][0]
            self._tell(purchase, bought["CapacityBlockExtensionStatus"])
            return
        console.progress(answer.silence)
        status = self._looked_up(purchase)
        if status is None:
            self.records.end(purchase.subject)
            raise failures.CommandError("nothing was bought; run the command again")
        self._tell(purchase, status)

    def _tell(self, purchase: Purchase, status: str) -> None:
        self.records.end(purchase.subject)
        if status == "payment-failed":
            raise failures.CommandError(
                f"AWS could not process the payment for the extension of {purchase.subject}; the "
                "block keeps its end"
            )
        console.answer(
            f"extended {purchase.subject} to {both(purchase.offering.ends_at)} ({status})"
        )
        if status == "payment-pending":
            console.note("the end changes when AWS has processed the payment")
        for target in known_stacks(self.account):
            stack_file = target.stack_file
            for name, entry in capacity_blocks_of(stack_file).items():
                if entry.get("reservation_id") != purchase.subject:
                    continue
                if "ends_at" in entry:
                    console.note(
                        f"{stack_file.name}: remove `reservations.{name}.ends_at`, or set it to "
                        f"{purchase.offering.ends_at.isoformat()}"
                    )
                fee = entry.get("upfront_fee_usd")
                if fee is not None:
                    console.note(
                        f"{stack_file.name}: set `reservations.{name}.upfront_fee_usd` to "
                        f"{float(fee) + float(purchase.offering.fee):.2f}, the fee with this "
                        "extension"
                    )
                console.note(f"its nodes stay longer after {target.command('up')}")


def extend(reservation_id: str, hours: int, account: Account, *, region: str, price: str) -> None:
    """Extend a Capacity Block by some hours."""
    with capacity_account(account):
        records = records_of(account)
        lock = records.path(reservation_id).with_suffix(".lock")
        hold_lock(lock, stack=reservation_id, command="capacity extend")
        at_the_end(lambda: release_lock(lock))
        Extender(
            reservation_id=reservation_id,
            account=account,
            records=records,
            reader=account.reader(region_of(region, account)),
        ).extend(hours, price=price)

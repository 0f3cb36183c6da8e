"""Purchases of Capacity Blocks for a stack, each of them made exactly once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

import typer
from botocore.exceptions import BotoCoreError, ClientError

from trainyard.capacity.offerings import Offering
from trainyard.capacity.records import Purchase
from trainyard.capacity.wording import amount_in, money
from trainyard.cli import console, failures
from trainyard.components import clock
from trainyard.components.account.call_failures import explained
from trainyard.components.account.error_codes import BROKEN, NOT_ALLOWED, THROTTLED
from trainyard.components.account.reader import AccountReader, AccountUnreachableError
from trainyard.components.capacity import lookup as capacity_lookup
from trainyard.components.capacity.facts import ReservationFacts
from trainyard.components.capacity.plan import LINUX
from trainyard.components.capacity.reservations import DESCRIBE
from trainyard.components.compute.dry_run import WOULD_HAVE_SUCCEEDED


def confirm_price(fee: Decimal, currency: str, *, given: str, again: str) -> None:
    """Return if the user has typed the price.

    Args:
        fee: The price.
        currency: Its currency.
        given: Value of `--price`; empty to ask in a terminal.
        again: The command without `--price`, for the message without a terminal.

    Raises:
        WrongUseError: `--price` is another amount, or it is missing and there is no terminal.
        CancelledError: the user typed another amount.
    """
    if given:
        if amount_in(given) != fee:
            raise failures.WrongUseError(
                f"--price is {given}, but the price is {money(fee, currency)}; nothing was bought"
            )
        return
    if not console.at_a_terminal():
        raise failures.WrongUseError(
            f"nothing was bought: confirm the price with\n  {again} --price {fee}"
        )
    typed = typer.prompt(f"\nType the price in {currency} to buy", err=True)
    if amount_in(typed) != fee:
        raise failures.CancelledError("this is not the price; nothing was bought")


# Buy exactly once with calls of EC2 that have no client token.
#
# boto3 repeats a request that got no answer, which would buy twice, so these calls are made by a
# client without retries. If the answer is missing, what the call did is looked up. EC2 is
# eventually consistent, so nothing found means nothing bought only after five minutes.
#
# Sources:
#     https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_PurchaseCapacityBlock.html
#     https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html (five minutes)


Found = TypeVar("Found")

VISIBLE_WITHIN = timedelta(minutes=5)
"""Time after which EC2 shows everything that was made."""
_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS = 2.0, 30.0


@dataclass(frozen=True, slots=True)
class PurchaseAnswer:
    """What a purchase call said."""

    result: Any = None
    """Its answer; None if there is none."""
    refusal: str = ""
    """Why EC2 did nothing."""
    silence: str = ""
    """Why it is unknown whether EC2 did something."""


def dry_run(call: str, do: Callable[..., Any], **arguments: Any) -> str:
    """Make the dry run of a purchase; return why it would be refused, or an empty text.

    It checks the permissions, and EC2 refuses an offering that it no longer has.
    """
    try:
        do(DryRun=True, **arguments)
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        return "" if code == WOULD_HAVE_SUCCEEDED else refusal_text(call, error)
    except BotoCoreError as error:
        return explained(call, error)
    return f"{call}: EC2 did not recognize the dry run"


def purchased(call: str, do: Callable[..., Any], **arguments: Any) -> PurchaseAnswer:
    """Make the call of a purchase, once.

    Args:
        call: `service:Operation`.
        do: Method of a client that does not repeat requests.
        arguments: Its arguments.
    """
    try:
        return PurchaseAnswer(result=do(**arguments))
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code in THROTTLED or (status < 500 and code not in BROKEN):
            return PurchaseAnswer(refusal=refusal_text(call, error))
        return PurchaseAnswer(silence=explained(call, error))
    except BotoCoreError as error:
        return PurchaseAnswer(silence=explained(call, error))


def refusal_text(call: str, error: ClientError) -> str:
    """Return one sentence about a purchase that EC2 refuses."""
    code = error.response.get("Error", {}).get("Code", "")
    if code in NOT_ALLOWED:
        return f"AWS denies {call} ({code}); docs/capacity.md lists the permissions"
    if code.startswith("InvalidCapacityBlockOfferingId"):
        return (
            f"EC2 no longer has this offering ({code}); search again: offerings go to whoever buys "
            "them first"
        )
    return explained(call, error)


def looked_up(
    look: Callable[[], Found | None],
    asked_at: datetime,
    now: datetime,
    *,
    tell: Callable[[str], None],
    sleep: Callable[[float], None] | None = None,
) -> Found | None:
    """Return what a purchase has bought, or None if it has certainly bought nothing.

    It looks until EC2 would show it: for up to five minutes after the call.

    Args:
        look: Returns what EC2 shows of the purchase, or None.
        asked_at: When the call was made.
        now: The time.
        tell: Receives a message before the first wait.
        sleep: Waits a number of seconds, by default `time.sleep`.
    """
    left = (VISIBLE_WITHIN - max(now - asked_at, timedelta())).total_seconds()
    wait = _FIRST_WAIT_SECONDS
    while (found := look()) is None and left > 0:
        if wait == _FIRST_WAIT_SECONDS:
            tell(f"looking for the purchase in the account, for up to {left:.0f} s")
        (sleep or time.sleep)(min(wait, left))
        left -= wait
        wait = min(wait * 2, _LONGEST_WAIT_SECONDS)
    return found


def look_up(
    purchase: Purchase, reader: AccountReader, look: Callable[[], Found | None]
) -> Found | None:
    """Return what a purchase has bought, or None if it has certainly bought nothing.

    Raises:
        WrongUseError: the reader is of another region or account than the purchase.
        CommandError: EC2 does not tell; the record of the purchase stays.
    """
    offering = purchase.offering
    if (offering.region, offering.account_id) != (reader.region, reader.account_id()):
        raise failures.WrongUseError(
            f"the purchase of {offering.offering_id} for {purchase.subject} was in "
            f"{offering.region} in the account {offering.account_id}; use that region and the "
            "credentials of that account, so that its result is found"
        )
    try:
        return looked_up(look, purchase.asked_at, clock.now(), tell=console.progress)
    except AccountUnreachableError as error:
        raise failures.CommandError(
            f"it is not known whether {offering.offering_id} was bought for {purchase.subject}: "
            f"{error}. Run the command again: it looks that up before it buys anything"
        ) from error


# The purchase of a Capacity Block for a stack, in the terms of EC2.
#
# Sources:
#     https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_PurchaseCapacityBlock.html
#     https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-pricing-billing.html
#     https://github.com/hashicorp/terraform-provider-aws/blob/main/internal/service/ec2/ec2_capacity_block_reservation.go
#     (the tags are those of a `capacity-reservation`)


PURCHASE = "ec2:PurchaseCapacityBlock"
PURCHASE_TAG = "trainyard:purchase"
"""Key of the tag with the id of a purchase, by which a reservation is found again."""
STACK_TAG = "trainyard:stack"
"""Key of the tag with the stack that a block was bought for."""
EXPECTED_ID = "cr-00000000000000000"
"""Stands for the id of a block that is not bought yet."""
_RECENT = timedelta(days=1)


def expected_block(offering: Offering) -> ReservationFacts:
    """Return the reservation that a purchase would create, after its payment."""
    return ReservationFacts(
        reservation_id=EXPECTED_ID,
        kind="capacity-block",
        instance_type=offering.node_type,
        availability_zone=offering.zone,
        zone_id=offering.zone_id,
        state="scheduled",
        instance_count=offering.instances,
        owner_id=offering.account_id,
        platform=LINUX,
        placement_group=None,
        starts_at=offering.starts_at,
        ends_at=offering.ends_at,
        available_count=0,
    )


def purchase_arguments(purchase: Purchase) -> dict[str, Any]:
    """Return the arguments of PurchaseCapacityBlock."""
    tags = {PURCHASE_TAG: purchase.purchase_id, STACK_TAG: purchase.subject}
    return {
        "CapacityBlockOfferingId": purchase.offering.offering_id,
        "InstancePlatform": LINUX,
        "TagSpecifications": [
            {
                "ResourceType": "capacity-reservation",
                "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
            }
        ],
    }


def answered_block(result: Mapping[str, Any]) -> ReservationFacts:
    """Return the reservation in EC2's answer to the purchase of one block.

    It is in `CapacityReservation` and in `CapacityReservations`; EC2 does not document whether the
    first is there for an UltraServer.
    """
    return capacity_lookup.reservation_facts(
        result.get("CapacityReservation") or result["CapacityReservations"][0]
    )


def recent_blocks(
    reader: AccountReader, stack: str, now: datetime
) -> Iterator[tuple[ReservationFacts, datetime]]:
    """Yield the blocks that were bought for a stack in the last day, with the time of the purchase.

    They show a purchase whose record was lost, for example with the disk of another machine.

    Raises:
        AccountUnreachableError: EC2 does not answer, or denies the call. Then it is unknown.
    """
    answer = _described(reader, STACK_TAG, stack, f"earlier purchases for {stack} are looked up")
    for each in answer:
        created = each.get("CreateDate")
        if created is not None and now - created < _RECENT:
            yield capacity_lookup.reservation_facts(each), created


def bought_block(reader: AccountReader, purchase: Purchase) -> ReservationFacts | None:
    """Return the reservation of a purchase, by its tag; None if EC2 does not show one.

    Raises:
        AccountUnreachableError: EC2 does not answer, or denies the call. Then it is unknown.
    """
    offering_id = purchase.offering.offering_id
    what = f"the purchase of {offering_id} is looked up"
    found = _described(reader, PURCHASE_TAG, purchase.purchase_id, what)
    return capacity_lookup.reservation_facts(found[0]) if found else None


def _described(reader: AccountReader, tag: str, value: str, what: str) -> Sequence[Any]:
    """Return EC2's description of the reservations with a tag."""
    filters = [{"Name": f"tag:{tag}", "Values": [value]}]
    answer = reader.ask(DESCRIBE, reader.ec2.describe_capacity_reservations, Filters=filters)
    if answer is None:
        raise AccountUnreachableError(
            f"AWS denies {DESCRIBE}, with which {what}; nothing else is bought until that is "
            "allowed"
        )
    return answer["CapacityReservations"]

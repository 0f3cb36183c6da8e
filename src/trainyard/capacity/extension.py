"""The extension of a Capacity Block, in the terms of EC2.

Sources:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-extend.html
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeCapacityBlockExtensionOfferings.html
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeCapacityBlockExtensionHistory.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from trainyard.capacity.offerings import Offering
from trainyard.capacity.records import Purchase
from trainyard.capacity.wording import both
from trainyard.components.account.reader import AccountReader, AccountUnreachableError
from trainyard.components.capacity.facts import ReservationFacts
from trainyard.components.catalog.capacity_blocks import (
    DURATIONS,
    EXTENDABLE_BEFORE_END,
    EXTENDABLE_STATES,
    MOST_DAYS,
    is_duration,
)
from trainyard.components.config.problems import Problem

PURCHASE_EXTENSION = "ec2:PurchaseCapacityBlockExtension"
DESCRIBE_EXTENSION_OFFERINGS = "ec2:DescribeCapacityBlockExtensionOfferings"
DESCRIBE_HISTORY = "ec2:DescribeCapacityBlockExtensionHistory"


def extension_problems(
    found: ReservationFacts, hours: int, account_id: str, now: datetime
) -> Iterator[Problem]:
    """Yield why a reservation cannot be extended by some hours."""
    option, reservation_id = "RESERVATION", found.reservation_id
    if found.kind != "capacity-block":
        yield Problem(
            path=option,
            problem="it is an On-Demand Capacity Reservation, which lasts until it is released",
            found=reservation_id,
            remedy="it needs no extension; if it has an end date, change that with "
            "`aws ec2 modify-capacity-reservation`",
        )
        return
    if found.owner_id != account_id:
        yield Problem(
            path=option,
            problem=f"only its owner, the account {found.owner_id}, can extend it",
            found=reservation_id,
            remedy="ask the owner of the block",
        )
    if found.state not in EXTENDABLE_STATES:
        yield Problem(
            path=option,
            problem=f"its state is {found.state}",
            found=reservation_id,
            allowed=f"a block that is {' or '.join(EXTENDABLE_STATES)}",
            remedy="buy another block: `./trainyard capacity search`",
        )
    days, rest = divmod(hours, 24)
    if rest or not is_duration(days):
        yield Problem(
            path="--hours" if rest else "--days",
            problem="EC2 has no extensions of this duration",
            found=hours if rest else days,
            allowed=f"{DURATIONS} days",
            remedy="use a whole number of days that EC2 sells",
        )
    yield from _time_problems(found, hours, now)


def _time_problems(found: ReservationFacts, hours: int, now: datetime) -> Iterator[Problem]:
    if found.ends_at is None or found.starts_at is None:
        return
    latest, earliest = EXTENDABLE_BEFORE_END
    left = found.ends_at - now
    if left < latest:
        yield Problem(
            path="RESERVATION",
            problem="EC2 extends a block until an hour before its end",
            found=f"{found.reservation_id}, which ends {both(found.ends_at)}",
            remedy="buy another block: `./trainyard capacity search`",
        )
    elif left > earliest:
        yield Problem(
            path="RESERVATION",
            problem="EC2 extends a block in the last 56 days before its end",
            found=f"{found.reservation_id}, which ends {both(found.ends_at)}",
            remedy=f"extend it from {both(found.ends_at - earliest)} on",
        )
    if found.ends_at + timedelta(hours=hours) - found.starts_at > timedelta(days=MOST_DAYS):
        longest = (found.starts_at + timedelta(days=MOST_DAYS) - found.ends_at).days
        yield Problem(
            path="--days",
            problem=f"a block lasts at most {MOST_DAYS} days with its extensions",
            found=hours // 24,
            allowed=f"{longest} days or less",
            remedy="use fewer days, or buy another block",
        )


def extension_offerings(
    reader: AccountReader, found: ReservationFacts, hours: int
) -> list[Offering]:
    """Return what EC2 offers, the cheapest first; nothing without free instances.

    Raises:
        AccountUnreachableError: EC2 refuses or denies the call, or does not answer.
    """
    pages = list(
        reader.pages(
            DESCRIBE_EXTENSION_OFFERINGS,
            reader.ec2.describe_capacity_block_extension_offerings,
            next_key="NextToken",
            CapacityReservationId=found.reservation_id,
            CapacityBlockExtensionDurationHours=hours,
        )
    )
    if reader.unreadable:
        raise AccountUnreachableError(f"AWS denies {'; '.join(reader.not_read())}")
    answers = [each for page in pages for each in page["CapacityBlockExtensionOfferings"]]
    offers = [_offering(each, found, reader.region) for each in answers]
    return sorted(offers, key=lambda each: (each.fee, each.offering_id))


def _offering(answer: Mapping[str, Any], found: ReservationFacts, region: str) -> Offering:
    return Offering(
        offering_id=answer["CapacityBlockExtensionOfferingId"],
        account_id=found.owner_id,
        region=region,
        instance_type=answer["InstanceType"],
        nodes=answer["InstanceCount"],
        zone=found.availability_zone,
        zone_id=found.zone_id,
        starts_at=answer["CapacityBlockExtensionStartDate"],
        ends_at=answer["CapacityBlockExtensionEndDate"],
        fee=Decimal(answer["UpfrontFee"]),
        currency=answer["CurrencyCode"],
    )


def bought_extension(reader: AccountReader, purchase: Purchase) -> str | None:
    """Return the status of a bought extension, by its offering; None if EC2 shows none.

    Raises:
        AccountUnreachableError: EC2 does not answer, or denies the call. Then it is unknown.
    """
    answer = reader.ask(
        DESCRIBE_HISTORY,
        reader.ec2.describe_capacity_block_extension_history,
        CapacityReservationIds=[purchase.subject],
        Filters=[
            {
                "Name": "capacity-block-extension-offering-id",
                "Values": [purchase.offering.offering_id],
            }
        ],
    )
    if answer is None:
        raise AccountUnreachableError(
            f"AWS denies {DESCRIBE_HISTORY}, with which the extension of {purchase.subject} is "
            "looked up; nothing else is bought until that is allowed"
        )
    found = answer["CapacityBlockExtensions"]
    return found[0]["CapacityBlockExtensionStatus"] if found else None

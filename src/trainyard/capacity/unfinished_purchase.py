"""What a purchase without a known result has bought."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from trainyard.capacity.purchasing import looked_up
from trainyard.capacity.records import Purchase
from trainyard.cli import console, failures
from trainyard.components import clock
from trainyard.components.account.lookup import AccountReader, AccountUnreachableError

Found = TypeVar("Found")


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

"""Times and prices as text."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation


def utc(moment: datetime) -> str:
    """Return a time in UTC, such as `2026-12-01 11:30 UTC`."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def local(moment: datetime) -> str:
    """Return a time of the user's zone, such as `2026-12-01 03:30 PST`."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M %Z}"


def both(moment: datetime) -> str:
    """Return a time in the user's zone and in UTC; once if they are the same."""
    there, here = utc(moment), local(moment)
    return there if there == here else f"{here} ({there})"


def money(amount: Decimal | float, currency: str) -> str:
    """Return a price, such as `10,571.90 USD`."""
    return f"{amount:,.2f} {currency}"


def amount_in(text: str) -> Decimal | None:
    """Return the amount that a user typed, such as `10,571.90` or `10571.90 USD`, or None."""
    words = text.replace(",", "").split()
    try:
        return Decimal(words[0]) if words else None
    except InvalidOperation:
        return None

"""The confirmation of a purchase: the user types its price."""

from __future__ import annotations

from decimal import Decimal

import typer

from trainyard.capacity.wording import amount_in, money
from trainyard.cli import console, failures


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

"""A purchase is confirmed with its price, by the option or in a terminal."""

from __future__ import annotations

import sys
from decimal import Decimal

import pytest

from trainyard.capacity.block_purchase import confirm_price
from trainyard.cli import failures

FEE = Decimal("10571.90")


def confirm(given: str = "") -> None:
    confirm_price(FEE, "USD", given=given, again="./trainyard capacity buy cb-1 --for prod-a")


@pytest.mark.parametrize("given", ["10571.90", "10,571.9 USD"])
def test_the_price_of_the_option_is_compared_as_a_number(given: str) -> None:
    confirm(given)


@pytest.mark.parametrize("given", ["10571.91", "1", "0", "x"])
def test_another_price_of_the_option_buys_nothing(given: str) -> None:
    with pytest.raises(failures.WrongUseError, match="nothing was bought"):
        confirm(given)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Answer the prompt of a terminal."""
    answers: list[str] = []
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.prompt", lambda *_, **__: answers.pop())
    return answers


def test_the_price_that_is_typed_buys(typed: list[str]) -> None:
    typed.append("10,571.90")
    confirm()


@pytest.mark.parametrize("answer", ["10571", "1057190", "yes", "y", " "])
def test_another_answer_buys_nothing(typed: list[str], answer: str) -> None:
    typed.append(answer)
    with pytest.raises(failures.CancelledError, match="nothing was bought"):
        confirm()

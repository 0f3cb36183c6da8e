"""`capacity extend` buys an extension, once."""

from __future__ import annotations

import pytest
from typer.testing import Result

from tests.support.capacity_commands import EXTEND, Commands
from tests.support.faults.account import CountedCalls
from tests.support.sandbox_aws import BLOCK, ENDING, EXPIRED, ODCR


def extend(capacity: Commands, *more: str, reservation: str = BLOCK) -> Result:
    return capacity("extend", reservation, "--days", "7", *more)


PRICE = ("--price", "10,571.90")


def test_an_extension_moves_the_end(capacity: Commands) -> None:
    before = capacity.account.reservation(BLOCK)["EndDate"]
    assert extend(capacity).exit_code == 2
    assert capacity.account.reservation(BLOCK)["EndDate"] == before
    result = extend(capacity, *PRICE)
    assert result.exit_code == 0, result.output
    assert (capacity.account.reservation(BLOCK)["EndDate"] - before).days == 7


def test_an_extension_tells_the_fee_to_set(capacity: Commands) -> None:
    text = capacity.file.read_text()
    kind = "        kind: capacity-block\n"
    more = f"        reservation_id: {BLOCK}\n        upfront_fee_usd: 1000\n"
    capacity.file.write_text(text.replace(kind, f"{kind}{more}"))
    result = extend(capacity, *PRICE)
    assert result.exit_code == 0, result.output
    assert "upfront_fee_usd` to 11571.90, the fee with this extension" in result.output


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (f"call: '{EXTEND}', happens: throttled", 1),
        (f"call: '{EXTEND}', nth: 2, happens: throttled", 1),
        (f"call: '{EXTEND}', nth: 2, happens: connection-reset", 1),
        (f"call: '{EXTEND}', nth: 2, happens: done-without-answer", 0),
    ],
)
def test_after_any_fault_of_an_extension_one_is_bought(
    capacity: Commands, counted: CountedCalls, fault: str, code: int
) -> None:
    capacity.use(fault)
    assert extend(capacity, *PRICE).exit_code == code
    capacity.use()
    if code:
        assert extend(capacity, *PRICE).exit_code == 0
    assert counted.done[EXTEND] == 1
    assert capacity.records() == []


def test_an_extension_that_was_not_written_down_is_not_bought_again(
    capacity: Commands, counted: CountedCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("trainyard.commands.capacity.extend.Extender._tell", killed)
        assert extend(capacity, *PRICE).exit_code == 3
    assert extend(capacity, *PRICE).exit_code == 0
    assert counted.done[EXTEND] == 1


@pytest.mark.parametrize(
    ("reservation", "days", "said"),
    [
        (ODCR, "1", "lasts until it is released"),
        (EXPIRED, "1", "its state is expired"),
        (ENDING, "1", "until an hour before its end"),
        (BLOCK, "15", "no extensions of this duration"),
        (BLOCK, "182", "at most 182 days"),
        ("cr-0fffffffffffffff0", "1", "does not exist"),
        ("../prod-a", "1", "is not the id of a reservation"),
    ],
)
def test_an_extension_that_ec2_would_refuse_is_not_asked_for(
    capacity: Commands, counted: CountedCalls, reservation: str, days: str, said: str
) -> None:
    result = capacity("extend", reservation, "--days", days)
    assert result.exit_code == 2
    assert said in result.stderr
    assert counted.done["ec2:DescribeCapacityBlockExtensionOfferings"] == 0

"""Whatever happens to a purchase, one block is bought."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.support.capacity_commands import BUY, STACK, Commands  # before boto3 makes a client

from trainyard.components import clock  # isort: skip
from trainyard.sandbox.aws.clock import CLOCK  # isort: skip
from tests.support.faults.account import CountedCalls


def killed(*_: object, **__: object) -> None:
    """End the command at once, as Ctrl-C does."""
    raise KeyboardInterrupt


def interrupt(
    capacity: Commands, offering: Any, monkeypatch: pytest.MonkeyPatch, *, at: str
) -> None:
    """Buy an offering with a command that is interrupted in a function."""
    with monkeypatch.context() as patched:
        patched.setattr(at, killed)
        assert capacity.buy(offering).exit_code == 3


@pytest.mark.usefixtures("unchecked")
def test_the_same_offering_is_not_bought_again(capacity: Commands) -> None:
    offering = capacity.offering()
    assert capacity.buy(offering).exit_code == 0
    for more in ((), ("--entry", "next")):
        result = capacity.buy(offering, *more)
        assert result.exit_code == 2
        assert "not among the offerings" in result.stderr
    assert len(capacity.bought()) == 1


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [
        (f"call: '{BUY}', happens: throttled", 1, "nothing was bought"),
        (f"call: '{BUY}', nth: 2, happens: throttled", 1, "nothing was bought"),
        (f"call: '{BUY}', nth: 2, happens: credentials-expired", 1, "nothing was bought"),
        (f"call: '{BUY}', nth: 2, happens: connection-reset", 1, "nothing was bought"),
        (f"call: '{BUY}', nth: 2, happens: internal-error", 1, "nothing was bought"),
        (f"call: '{BUY}', nth: 2, happens: done-without-answer", 0, "bought cr-"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_after_any_fault_of_the_purchase_one_block_is_bought(
    capacity: Commands, counted: CountedCalls, fault: str, code: int, said: str
) -> None:
    """The first call of a purchase is its dry run."""
    offering = capacity.offering()
    capacity.use(fault)
    first = capacity.buy(offering)
    assert first.exit_code == code
    assert said in first.output
    assert len(capacity.bought()) == (0 if code else 1)
    assert capacity.records() == []
    capacity.use()
    if code:
        assert capacity.buy(offering).exit_code == 0
    assert len(capacity.bought()) == counted.done[BUY] == 1
    assert capacity.records() == []
    assert capacity.bought()[0] in capacity.file.read_text()


LOOK = "call: 'ec2:DescribeCapacityReservations', nth: 2, happens: throttled, times: always"
"""The first look is for recent purchases."""


@pytest.mark.usefixtures("unchecked")
def test_a_lost_answer_that_cannot_be_looked_up_is_completed_by_the_next_command(
    capacity: Commands, counted: CountedCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda _: None)
    offering, other = capacity.offering(), capacity.offering(nodes=4)
    capacity.use(
        f"call: '{BUY}', nth: 2, happens: done-without-answer",
        LOOK,
    )
    first = capacity.buy(offering)
    assert first.exit_code == 1
    assert "it is not known whether cb-" in first.stderr
    assert capacity.records() == [f"{STACK}.purchase.json"]
    capacity.use()
    second = capacity.buy(other)
    assert second.exit_code == 1
    assert "was not bought, because an earlier purchase was not completed" in second.stderr
    assert len(capacity.bought()) == counted.done[BUY] == 1
    assert capacity.bought()[0] in capacity.file.read_text()
    assert capacity.records() == []


@pytest.mark.usefixtures("unchecked")
def test_a_command_that_was_killed_before_it_wrote_is_completed(
    capacity: Commands, counted: CountedCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    offering = capacity.offering()
    interrupt(capacity, offering, monkeypatch, at="trainyard.commands.capacity.buy.write_whole")
    assert capacity.records() == [f"{STACK}.purchase.json"]
    assert capacity.buy(offering).exit_code == 0
    assert len(capacity.bought()) == counted.done[BUY] == 1
    assert capacity.bought()[0] in capacity.file.read_text()


@pytest.mark.usefixtures("unchecked")
def test_a_new_entry_that_was_written_before_the_command_was_killed_is_written_once(
    capacity: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert capacity.buy(capacity.offering()).exit_code == 0
    offering = capacity.offering()
    interrupt(capacity, offering, monkeypatch, at="trainyard.capacity.records.Records.forget")
    assert capacity.buy(offering).exit_code == 0
    text = capacity.file.read_text()
    assert [text.count(each) for each in capacity.bought()] == [1, 1]
    assert text.count("further_blocks") == 1


@pytest.mark.usefixtures("unchecked")
def test_a_purchase_that_never_reached_ec2_is_made_again(
    capacity: Commands, counted: CountedCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    offering = capacity.offering()
    interrupt(
        capacity,
        offering,
        monkeypatch,
        at="trainyard.commands.capacity.buy.block_purchase.purchased",
    )
    result = capacity.buy(offering)
    assert "it has bought nothing" in result.stderr
    assert result.exit_code == 0
    assert len(capacity.bought()) == counted.done[BUY] == 1


@pytest.mark.usefixtures("unchecked")
def test_a_damaged_record_stops_every_purchase(capacity: Commands, counted: CountedCalls) -> None:
    offering = capacity.offering()
    record = capacity.file.parent / ".trainyard" / "capacity" / f"{STACK}.purchase.json"
    record.write_text("{")
    result = capacity.buy(offering)
    assert result.exit_code == 1
    assert "the record of a purchase, is damaged" in result.stderr
    assert counted.done[BUY] == 0


@pytest.mark.usefixtures("unchecked")
def test_an_offering_that_others_bought_is_gone(capacity: Commands) -> None:
    offering = capacity.offering(nodes=8)
    capacity.account.ec2.purchase_capacity_block(
        CapacityBlockOfferingId=offering["offering_id"], InstancePlatform="Linux/UNIX"
    )
    result = capacity.buy(offering)
    assert result.exit_code == 1
    assert "InvalidCapacityBlockOfferingIdExpired); search again" in result.stderr
    assert capacity.bought() == []


@pytest.mark.usefixtures("unchecked")
def test_a_purchase_of_another_account_is_not_taken_for_nothing(
    capacity: Commands, counted: CountedCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    offering = capacity.offering()
    interrupt(capacity, offering, monkeypatch, at="trainyard.commands.capacity.buy.write_whole")
    record = capacity.file.parent / ".trainyard" / "capacity" / f"{STACK}.purchase.json"
    record.write_text(record.read_text().replace("123456789012", "210987654321"))
    result = capacity.buy(offering)
    assert result.exit_code == 2
    assert "was in us-west-2 in the account 210987654321" in result.stderr
    assert capacity.records() == [f"{STACK}.purchase.json"]
    assert counted.done[BUY] == 1


@pytest.mark.usefixtures("unchecked")
def test_a_recent_block_of_the_stack_that_its_file_does_not_name_stops_a_purchase(
    capacity: Commands, counted: CountedCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record of the purchase was lost with the disk."""
    offering, other = capacity.offering(), capacity.offering(nodes=4)
    interrupt(capacity, offering, monkeypatch, at="trainyard.commands.capacity.buy.write_whole")
    (record,) = capacity.records()
    (capacity.file.parent / ".trainyard" / "capacity" / record).unlink()
    refused = capacity.buy(other)
    (block,) = capacity.bought()
    assert refused.exit_code == 1
    assert f"{block} was bought for {STACK} at" in refused.stderr
    assert counted.done[BUY] == 1

    remove = (
        f"aws ec2 delete-tags --region us-west-2 --resources {block} --tags Key=trainyard:stack"
    )
    assert remove in " ".join(refused.stderr.split())
    capacity.account.ec2.delete_tags(Resources=[block], Tags=[{"Key": "trainyard:stack"}])
    assert capacity.buy(other).exit_code == 0
    assert counted.done[BUY] == 2


@pytest.mark.usefixtures("unchecked")
def test_a_block_that_was_bought_days_ago_stops_no_purchase(
    capacity: Commands, counted: CountedCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another stack file may have it by now."""
    text = capacity.file.read_text()
    assert capacity.buy(capacity.offering()).exit_code == 0
    capacity.file.write_text(text)
    later = timedelta(hours=25)
    CLOCK.advance(later)
    monkeypatch.setenv(clock.VARIABLE, str(later.total_seconds()))
    assert capacity.buy(capacity.offering()).exit_code == 0
    assert counted.done[BUY] == 2

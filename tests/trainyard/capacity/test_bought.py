"""What EC2 shows of a purchase, and what it means if it may not be asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.reservation_answers import RESERVATION, described
from trainyard.capacity.block_purchase import bought_block
from trainyard.capacity.extension import bought_extension
from trainyard.capacity.offerings import Offering
from trainyard.capacity.records import Purchase, Records
from trainyard.cli import failures
from trainyard.commands.capacity.extend import Extender
from trainyard.components.account.reader import AccountUnreachableError
from trainyard.workspace.accounts import AwsAccount

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)
PURCHASE = Purchase(
    purchase_id="f00d",
    subject=RESERVATION,
    offering=Offering(
        offering_id="cb-1",
        account_id="123456789012",
        region="us-west-2",
        instance_type="p5.48xlarge",
        nodes=4,
        zone="us-west-2b",
        zone_id="usw2-az1",
        starts_at=NOW,
        ends_at=NOW + timedelta(days=7),
        fee=Decimal(1),
        currency="USD",
    ),
    asked_at=NOW,
)


def reader(answer: Any, asked: dict[str, Any] | None = None) -> Any:
    """Return a reader that gets an answer, or None if AWS denies the call."""
    names = ("describe_capacity_reservations", "describe_capacity_block_extension_history")
    ec2 = SimpleNamespace(**dict.fromkeys(names))

    def ask(*_: object, **arguments: Any) -> Any:
        if asked is not None:
            asked.update(arguments)
        return answer

    return SimpleNamespace(ec2=ec2, ask=ask)


@pytest.mark.parametrize("look", [bought_block, bought_extension])
def test_a_call_that_aws_denies_does_not_mean_that_nothing_was_bought(look: Any) -> None:
    with pytest.raises(AccountUnreachableError, match="nothing else is bought until"):
        look(reader(None), PURCHASE)


def test_what_ec2_shows_was_bought() -> None:
    block = bought_block(reader({"CapacityReservations": [described()]}), PURCHASE)
    assert block is not None
    assert block.reservation_id == RESERVATION
    bought = {"CapacityBlockExtensions": [{"CapacityBlockExtensionStatus": "payment-pending"}]}
    assert bought_extension(reader(bought), PURCHASE) == "payment-pending"


def test_the_block_of_this_purchase_and_the_extension_of_this_offering_are_asked_for() -> None:
    """https://docs.aws.amazon.com/AWSEC2/latest/APIReference/, `Filter.N` of both calls."""
    asked: dict[str, Any] = {}
    bought_block(reader({"CapacityReservations": []}, asked), PURCHASE)
    assert asked == {"Filters": [{"Name": "tag:trainyard:purchase", "Values": ["f00d"]}]}
    asked.clear()
    bought_extension(reader({"CapacityBlockExtensions": []}, asked), PURCHASE)
    offering = {"Name": "capacity-block-extension-offering-id", "Values": ["cb-1"]}
    assert asked == {"CapacityReservationIds": [RESERVATION], "Filters": [offering]}


def test_a_payment_that_failed_has_extended_nothing(tmp_path: Path) -> None:
    """https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityBlockExtension.html"""
    records = Records(tmp_path)
    records.begin(PURCHASE)
    extender = Extender(
        reservation_id=RESERVATION, account=AwsAccount(), records=records, reader=reader(None)
    )
    with pytest.raises(failures.CommandError, match="keeps its end"):
        extender._tell(PURCHASE, "payment-failed")
    assert records.unfinished(RESERVATION) is None


def test_what_ec2_does_not_show_was_not_bought() -> None:
    assert bought_block(reader({"CapacityReservations": []}), PURCHASE) is None
    assert bought_extension(reader({"CapacityBlockExtensions": []}), PURCHASE) is None

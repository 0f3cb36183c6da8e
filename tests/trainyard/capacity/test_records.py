"""The offerings that a search has found, until they start or are bought."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from trainyard.capacity.offerings import Offering
from trainyard.capacity.records import Records

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


def offering(number: int, starts_in: timedelta) -> Offering:
    return Offering(
        offering_id=f"cb-{number}",
        account_id="123456789012",
        region="us-west-2",
        instance_type="p5.48xlarge",
        nodes=2,
        zone="us-west-2b",
        zone_id="usw2-az1",
        starts_at=NOW + starts_in,
        ends_at=NOW + starts_in + timedelta(days=7),
        fee=Decimal("10571.90"),
        currency="USD",
    )


def test_an_offering_is_remembered_until_it_starts(tmp_path: Path) -> None:
    soon, later = offering(1, timedelta(hours=1)), offering(2, timedelta(days=3))
    records = Records(tmp_path)
    records.remember([soon], NOW)
    assert records.offering("cb-1") == soon
    records.remember([later], NOW + timedelta(hours=2))
    assert (records.offering("cb-1"), records.offering("cb-2")) == (None, later)


def test_only_the_bought_offering_is_forgotten(tmp_path: Path) -> None:
    records = Records(tmp_path)
    both = [offering(number, timedelta(days=1)) for number in (1, 2)]
    records.remember(both, NOW)
    records.forget("cb-1")
    assert (records.offering("cb-1"), records.offering("cb-2")) == (None, both[1])

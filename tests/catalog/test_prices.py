"""Every price of the snapshot has a source and a date, and those of shipped stacks are known."""

from __future__ import annotations

from datetime import date

import pytest

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.catalog.prices import on_demand_price, snapshot_prices
from trainyard.cost.price_list import QUERIES, query_of

REGIONS = ("us-east-1", "us-west-2")
NOT_ASKED = {"cloudwatch:dashboard"}
"""It has one price for all regions."""


@pytest.mark.parametrize("region", REGIONS)
def test_every_price_is_positive_and_has_a_source(region: str) -> None:
    for key, price in snapshot_prices(region).items():
        assert price.usd > 0, key
        assert price.url.startswith("https://"), key
        assert price.source, key
        assert date(2024, 1, 1) < price.day <= date(2026, 11, 25), key


@pytest.mark.parametrize("region", REGIONS)
def test_every_price_can_be_refreshed_and_belongs_to_something_known(region: str) -> None:
    for key in set(snapshot_prices(region)) - NOT_ASKED:
        assert query_of(key) is not None, key
        service, _, name = key.partition(":")
        assert service != "ec2" or name in INSTANCE_TYPES, key
        assert service == "ec2" or key in QUERIES, key


def test_the_same_instance_costs_the_same_in_both_regions() -> None:
    """AWS lists the same prices in these regions for every type that was compared."""
    for key, price in snapshot_prices("us-west-2").items():
        if key.startswith("ec2:"):
            there = on_demand_price(key.removeprefix("ec2:"), "us-east-1")
            assert there is not None, key
            assert price.usd == pytest.approx(there.usd, rel=1e-5), key


def test_a_region_without_prices_has_none() -> None:
    assert not snapshot_prices("eu-north-1")
    assert on_demand_price("p5.48xlarge", "eu-north-1") is None

"""List prices of AWS: a snapshot, with the source and the date of every price.

The data is `data/prices.json`, which `python -m tools.prices` refreshes from the AWS Price List. A
key is the service and what it charges for: `ec2:p5.48xlarge`, `ebs:gp3-iops`. Prices are in USD,
without taxes, discounts and free tiers. Those of instances and of what exists are for an hour;
those of storage, IOPS, throughput, alarms and dashboards for a month; those of data for a GB.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from trainyard.components.package_data import data_text

PRICES = Path(__file__).parent / "data" / "prices.json"
HOURS_PER_MONTH = 730
"""As in the AWS Pricing Calculator, https://calculator.aws."""
STALE_AFTER = timedelta(days=90)
"""Age at which a price is shown as old."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """One price and its origin."""

    usd: float
    source: str
    """What was read."""
    url: str
    day: date
    """When the price was valid."""

    def is_stale(self, today: date) -> bool:
        """Return whether the price is older than 90 days."""
        return today - self.day > STALE_AFTER


@cache
def snapshot_prices(region: str) -> Mapping[str, Price]:
    """Return the prices of a region by key; none for a region that the snapshot does not have."""
    content: dict[str, Any] = json.loads(data_text(PRICES))
    sources = content["sources"]
    return {
        key: Price(
            usd=each["usd"],
            source=sources[each["source"]]["title"],
            url=sources[each["source"]]["url"],
            day=date.fromisoformat(sources[each["source"]]["date"]),
        )
        for key, each in content["regions"].get(region, {}).items()
    }


def on_demand_price(instance_type: str, region: str) -> Price | None:
    """Return the price of an On-Demand Instance for an hour; None if it is not known."""
    return snapshot_prices(region).get(f"ec2:{instance_type}")

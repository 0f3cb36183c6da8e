"""What a planned stack costs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import TYPE_CHECKING

from trainyard.components.catalog.prices import HOURS_PER_MONTH, Price
from trainyard.components.config.stack import StackConfig
from trainyard.components.cost.item import BlockCost, CostItem, Prices
from trainyard.components.cost.node_items import block_costs, node_items
from trainyard.components.cost.service_items import service_items
from trainyard.components.cost.storage_items import file_system_items

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The charges of a stack, at list prices."""

    region: str
    items: tuple[CostItem, ...]
    blocks: tuple[BlockCost, ...]
    """Fees that are paid in advance, and not part of the sums."""

    @property
    def hourly_usd(self) -> float:
        """Sum of all known charges for what is always there, for an hour."""
        return _sum(self.items)

    @property
    def monthly_usd(self) -> float:
        """The same for a month."""
        return self.hourly_usd * HOURS_PER_MONTH

    @property
    def most_hourly_usd(self) -> float:
        """The same when jobs have launched all nodes."""
        return sum(each.most_hourly_usd for each in self.items)

    @property
    def stack_hourly_usd(self) -> float:
        """The most that an hour of the stack costs beyond what its owner pays without it.

        ODCRs are paid whether the stack exists or not.
        """
        return sum(each.most_hourly_usd for each in self.items if not each.whether_used)

    @property
    def hourly_usd_after_blocks(self) -> float:
        """Sum for an hour when the Capacity Blocks are over and the stack stays."""
        return _sum(each for each in self.items if not each.in_block)

    @property
    def unknown(self) -> tuple[CostItem, ...]:
        """Charges that are in no sum, because their price is not known."""
        return tuple(each for each in self.items if each.is_unknown)

    @property
    def by_use(self) -> tuple[CostItem, ...]:
        """Charges that are in no sum, because they depend on use."""
        return tuple(each for each in self.items if each.period == "use")

    def stale(self, today: date) -> tuple[Price, ...]:
        """Return the prices of sums that are older than 90 days, one for each source."""
        found = {
            each.price.source: each.price
            for each in self.items
            if each.price is not None and each.period != "use" and each.price.is_stale(today)
        }
        return tuple(sorted(found.values(), key=lambda price: (price.day, price.source)))

    @property
    def oldest(self) -> date | None:
        """Day of the oldest price in the sums."""
        days = [each.price.day for each in self.items if each.price and each.period != "use"]
        return min(days, default=None)


def estimate(config: StackConfig, plan: AnyPlan, prices: Prices, now: datetime) -> Estimate:
    """Return what a plan costs.

    Args:
        config: The stack, completed with the times of its Capacity Blocks if they are known.
        plan: Its plan.
        prices: Prices of its region. What they lack is unknown.
        now: The time, for the support of the Kubernetes version.
    """
    items = [*service_items(plan, now.date()), *node_items(config, plan)]
    for name, wanted in config.storage.items():
        items += file_system_items(name, wanted)
    order = ("nodes", "control plane", "network", "storage", "monitoring")
    items.sort(key=lambda each: order.index(each.group))
    return Estimate(
        region=plan.region,
        items=tuple(replace(each, price=prices.get(each.key)) for each in items),
        blocks=tuple(block_costs(config, plan)),
    )


def _sum(items: Iterable[CostItem]) -> float:
    return sum(each.hourly_usd for each in items)

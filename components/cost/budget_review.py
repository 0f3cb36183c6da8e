"""Refuse a plan that costs more than the budget of its stack."""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING

from trainyard.components.catalog.prices import HOURS_PER_MONTH, snapshot_prices
from trainyard.components.config.problems import Review
from trainyard.components.config.stack import StackConfig
from trainyard.components.cost.estimate import Estimate, estimate

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan

KEY = "budget.monthly_usd"
_DATED = frozenset({"eks:extended-support"})
"""Keys of prices that are due from a date on, although nothing was changed."""


def review_budget(config: StackConfig, plan: AnyPlan, now: datetime, review: Review) -> None:
    """Refuse a plan above the budget; note what the budget cannot cover.

    The prices are those of the snapshot, so that the same plan is accepted or refused everywhere.
    What a date adds to the price of a cluster that exists is noted.
    """
    if config.budget is None:
        return
    found = estimate(config, plan, snapshot_prices(plan.region), now)
    limit = config.budget.monthly_usd
    dated_usd = sum(each.hourly_usd for each in found.items if each.key in _DATED)
    undated_usd = found.monthly_usd - dated_usd * HOURS_PER_MONTH
    if undated_usd <= limit < found.monthly_usd:
        review.note(
            f"{KEY}: with extended support, the plan costs {found.monthly_usd:,.2f} USD a month, "
            "which is above the budget"
        )
        return
    if found.monthly_usd > limit:
        review.refuse(
            KEY,
            f"the plan costs {found.monthly_usd:,.2f} USD a month at list prices, which is above "
            f"the budget; the largest part is {_largest(found)}",
            found=limit,
            allowed=f"{math.ceil(found.monthly_usd)} or more",
            remedy=(
                "reduce what the plan creates (`./trainyard cost` lists every charge), or "
                + review.set_command(KEY, str(math.ceil(found.monthly_usd)))
            ),
        )
        return
    if found.unknown:
        keys = ", ".join(dict.fromkeys(each.resource for each in found.unknown))
        review.note(f"{KEY}: the prices of {keys} are not known, so they are not in the budget")
    most = found.most_hourly_usd * HOURS_PER_MONTH
    if most > limit:
        review.note(
            f"{KEY}: a month with all nodes that jobs can launch costs {most:,.2f} USD, which is "
            "above the budget"
        )


def _largest(found: Estimate) -> str:
    item = max(found.items, key=lambda each: each.hourly_usd)
    monthly = item.hourly_usd * HOURS_PER_MONTH
    return f"{item.resource} ({item.quantity:g} x {item.what}: {monthly:,.2f} USD)"

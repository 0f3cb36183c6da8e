"""What a stack costs, for the commands that show it."""

from __future__ import annotations

from typing import Any, NamedTuple

from trainyard.components import clock
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.catalog.prices import snapshot_prices
from trainyard.components.cost.estimate import Estimate, estimate
from trainyard.components.cost.item import Prices
from trainyard.stack_files.stack_config import config_of
from trainyard.stack_files.stack_files import StackFile
from trainyard.workspace.target import Target


class Cost(NamedTuple):
    """A stack with its charges."""

    estimate: Estimate
    config: Any
    notes: tuple[str, ...] = ()
    """What could not be read."""


def planned_cost(stack_file: StackFile) -> Cost:
    """Return what a stack costs at the prices of the snapshot, without an account.

    Raises:
        ConfigError: the configuration is invalid; a budget does not matter.
    """
    config = config_of(stack_file)
    return Cost(estimate_of(stack_file, config, snapshot_prices(stack_file.region)), config)


def estimate_of(stack_file: StackFile, config: Any, prices: Prices) -> Estimate:
    """Return the charges of a stack with a configuration, at some prices."""
    now = clock.now()
    plan = plan_stack(
        # A plan above the budget is not refused here: `cost` shows why it is above.
        config.model_copy(update={"budget": None}),
        stack_file=stack_file.name,
        region=stack_file.region,
        now=now,
    )
    return estimate(config, plan, prices, now)


def cost_line(target: Target) -> str:
    """Return the sums as one line, at the prices of the snapshot.

    Raises:
        ConfigError: the configuration is invalid.
    """
    found = planned_cost(target.stack_file).estimate
    parts = [f"{found.hourly_usd:,.2f} USD an hour, {found.monthly_usd:,.2f} a month"]
    if found.most_hourly_usd > found.hourly_usd:
        parts.append(f"{found.most_hourly_usd:,.2f} an hour with all nodes of jobs")
    if found.blocks:
        parts.append("without the fee of the Capacity Block")
    if found.unknown:
        count = len(found.unknown)
        parts.append(f"{count} {'price' if count == 1 else 'prices'} unknown")
    if found.oldest is not None:
        parts.append(f"list prices since {found.oldest}")
    return f"{'; '.join(parts)}; more: {target.command('cost')}"

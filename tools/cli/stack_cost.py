"""What a stack costs, for the commands that show it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from components import clock
from components.account.lookup import AccountReader, AccountUnreachableError
from components.account.reservations import with_block_times
from components.architectures.plan_stack import plan_stack
from components.catalog.prices import snapshot_prices
from components.cost.estimate import Estimate, estimate
from components.cost.item import Prices
from tools.cli import failures
from tools.cli.session import account_access
from tools.cli.stack_config import config_of
from tools.workspace.stack_files import StackFile


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
    return Cost(_estimate(stack_file, config, snapshot_prices(stack_file.region)), config)


def current_cost(stack_file: StackFile, *, sandbox: bool) -> Cost:
    """Return what a stack costs at the prices of the AWS Price List, if they can be read.

    The times of Capacity Blocks are read from the account. The sandbox has no Price List.

    Raises:
        ConfigError: the configuration is invalid; a budget does not matter.
    """
    planned = planned_cost(stack_file)
    try:
        with account_access(sandbox=sandbox, profile=stack_file.profile):
            return _in_account(stack_file, planned, sandbox=sandbox)
    except (failures.CommandError, AccountUnreachableError) as error:
        why = re.split(r"[;\n]", str(error))[0]
        return planned._replace(notes=(f"the account was not read: {why}",))


def _in_account(stack_file: StackFile, planned: Cost, *, sandbox: bool) -> Cost:
    notes: list[str] = []
    config = planned.config
    if planned.estimate.blocks:
        reader = AccountReader(region=stack_file.region)
        config = with_block_times(config, reader)
        notes += [f"not read: {call}" for call in reader.not_read()]
    prices = snapshot_prices(stack_file.region)
    if not sandbox:
        keys = [each.key for each in planned.estimate.items]
        prices = {**prices, **_listed(stack_file.region, keys, notes)}
    return Cost(_estimate(stack_file, config, prices), config, tuple(notes))


def _listed(region: str, keys: list[str], notes: list[str]) -> Prices:
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    from tools.prices.price_list import (
        ENDPOINT_REGION,
        GET_PRODUCTS,
        AmbiguousPriceError,
        listed_prices,
    )

    client = boto3.client("pricing", region_name=ENDPOINT_REGION)
    try:
        return listed_prices(client, region, keys, clock.now().date())
    except (ClientError, BotoCoreError, AmbiguousPriceError) as error:
        notes.append(f"not read: {GET_PRODUCTS}: {error}; the prices are those of the snapshot")
        return {}


def _estimate(stack_file: StackFile, config: Any, prices: Prices) -> Estimate:
    now = clock.now()
    plan = plan_stack(
        # A plan above the budget is not refused here: `cost` shows why it is above.
        config.model_copy(update={"budget": None}),
        stack_file=stack_file.name,
        region=stack_file.region,
        now=now,
    )
    return estimate(config, plan, prices, now)


def cost_line(stack_file: StackFile, *, sandbox: bool) -> str:
    """Return the sums as one line, at the prices of the snapshot.

    Raises:
        ConfigError: the configuration is invalid.
    """
    found = planned_cost(stack_file).estimate
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
    return f"{'; '.join(parts)}; more: {stack_file.command('cost', sandbox=sandbox)}"

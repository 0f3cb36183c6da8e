"""What a stack costs now: at the prices of the AWS Price List, with the times of its blocks."""

from __future__ import annotations

import re
from collections.abc import Callable

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from trainyard.cli import failures
from trainyard.components import clock
from trainyard.components.account.lookup import AccountReader, AccountUnreachableError
from trainyard.components.account.reservations import with_block_times
from trainyard.components.catalog.prices import snapshot_prices
from trainyard.components.cost.item import Prices
from trainyard.cost.price_list import (
    ENDPOINT_REGION,
    GET_PRODUCTS,
    AmbiguousPriceError,
    listed_prices,
)
from trainyard.cost.stack_cost import Cost, estimate_of, planned_cost
from trainyard.stack_files.stack_files import StackFile
from trainyard.workspace.session import account_access


def current_cost(
    stack_file: StackFile,
    *,
    sandbox: bool,
    listed: Callable[..., Prices] = listed_prices,
) -> Cost:
    """Return what a stack costs at the prices of the AWS Price List, if they can be read.

    The times of Capacity Blocks are read from the account. The sandbox has no Price List.

    Args:
        stack_file: The stack.
        sandbox: Whether the account is the sandbox's.
        listed: Reads the Price List.

    Raises:
        ConfigError: the configuration is invalid; a budget does not matter.
    """
    planned = planned_cost(stack_file)
    try:
        with account_access(sandbox=sandbox, profile=stack_file.profile):
            return _in_account(stack_file, planned, None if sandbox else listed)
    except (failures.CommandError, AccountUnreachableError) as error:
        why = re.split(r"[;\n]", str(error))[0]
        return planned._replace(notes=(f"the account was not read: {why}",))


def _in_account(stack_file: StackFile, planned: Cost, listed: Callable[..., Prices] | None) -> Cost:
    notes: list[str] = []
    config = planned.config
    if planned.estimate.blocks:
        reader = AccountReader(region=stack_file.region)
        config = with_block_times(config, reader)
        notes += [f"not read: {call}" for call in reader.not_read()]
    prices = snapshot_prices(stack_file.region)
    if listed is not None:
        keys = [each.key for each in planned.estimate.items]
        client = boto3.client("pricing", region_name=ENDPOINT_REGION)
        try:
            today = clock.now().date()
            prices = {**prices, **listed(client, stack_file.region, keys, today)}
        except (ClientError, BotoCoreError, AmbiguousPriceError) as error:
            notes.append(f"not read: {GET_PRODUCTS}: {error}; the prices are those of the snapshot")
    return Cost(estimate_of(stack_file, config, prices), config, tuple(notes))

"""`cost`: what a stack costs at list prices, by resource."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from trainyard.capacity.wording import money, utc
from trainyard.cli import console, options
from trainyard.cli.panel import LOG_WIDTH, plain
from trainyard.components import clock
from trainyard.components.catalog.prices import HOURS_PER_MONTH
from trainyard.components.cost.estimate import Estimate
from trainyard.components.cost.item import BlockCost, CostItem
from trainyard.cost.price_list import current_cost
from trainyard.cost.stack_cost import Cost

_SYMBOLS = ("GiB", "IOPS", "MiB/s", "MB/s")


def cost(
    stack: options.Stack,
    sandbox: options.Sandbox = False,
    stack_file: options.StackFilePath = None,
    as_json: options.AsJson = False,
) -> None:
    """Show what a stack costs at list prices, by resource. Changes nothing.

    With AWS credentials, prices are read from the AWS Price List, otherwise from a dated snapshot.
    """
    target = options.target(stack, path=stack_file, sandbox=sandbox)
    costs, now = current_cost(target), clock.now()
    if as_json:
        console.answer_json(_document(stack, costs, now))
        return
    estimate = costs.estimate
    if estimate.items:
        width = None if sys.stdout.isatty() else LOG_WIDTH
        Console(highlight=False, width=width).print(_table(stack, estimate))
    for line in cost_lines(costs, now):
        console.answer(line)
    for note in costs.notes:
        console.progress(note)


def _table(stack: str, estimate: Estimate) -> Table:
    title = f"{stack} in {estimate.region}: list prices in USD"
    table = Table(title=plain(title), title_justify="left", title_style="bold", box=box.SIMPLE)
    table.add_column("Charge", overflow="fold")
    table.add_column("Amount", justify="right", no_wrap=True)
    table.add_column("Price", justify="right", no_wrap=True)
    table.add_column("An hour", justify="right", no_wrap=True)
    table.add_column("A month", justify="right", no_wrap=True)
    group = ""
    for each in estimate.items:
        if each.period == "use":
            continue
        if group and each.group != group:
            table.add_section()
        group = each.group
        table.add_row(
            plain(f"{each.what}\n  {each.resource}{_jobs(each)}"),
            plain(_amount(each.quantity, each.unit)),
            plain(_price(each)),
            plain("" if each.is_unknown else f"{each.hourly_usd:,.4f}"),
            plain("" if each.is_unknown else f"{each.hourly_usd * HOURS_PER_MONTH:,.2f}"),
        )
    return table


def _jobs(item: CostItem) -> str:
    more = item.most - item.quantity
    return f"; jobs can add {_amount(more, item.unit)}" if more > 0 else ""


def _amount(quantity: float, unit: str) -> str:
    if quantity == 1 or unit in _SYMBOLS:
        return f"{quantity:g} {unit}"
    return f"{quantity:g} {unit}{'es' if unit.endswith('s') else 's'}"


def _price(item: CostItem) -> str:
    if item.price is None:
        return "not known"
    return f"{item.price.usd:g} {'an hour' if item.period == 'hour' else 'a month'}"


def cost_lines(costs: Cost, now: datetime) -> Iterator[str]:
    """Yield the sums of a stack, what is in no sum, and the origins of the prices."""
    found = costs.estimate
    yield f"total: {_sums(found.hourly_usd)}"
    if found.most_hourly_usd > found.hourly_usd:
        yield f"with all nodes that jobs can launch: {_sums(found.most_hourly_usd)}"
    for block in found.blocks:
        yield _block_line(block, now)
    if found.blocks:
        yield f"when the block is over: {_sums(found.hourly_usd_after_blocks)}"
    if costs.config.budget is not None:
        limit = costs.config.budget.monthly_usd
        word = "above" if found.monthly_usd > limit else "within"
        yield f"{word} the budget of {money(limit, 'USD')} a month"
    for each in found.unknown:
        yield f"price not known, in no sum: {each.what} ({each.resource})"
    for each in found.by_use:
        price = f"{each.price.usd:g} a {each.unit}" if each.price else "price not known"
        yield f"depends on use, in no sum: {each.what} ({each.resource}): {price}"
    yield from _origins(found, now)


def _sums(hourly: float) -> str:
    return f"{hourly:,.2f} USD an hour, {hourly * HOURS_PER_MONTH:,.2f} USD a month"


def _block_line(block: BlockCost, now: datetime) -> str:
    line = f"Capacity Block {block.reservation_id}, {block.nodes}, is paid in advance: "
    if block.fee_usd is None:
        return f"{line}its fee is not known; set {block.resource}.upfront_fee_usd to it"
    left = block.left_usd(now)
    line += money(block.fee_usd, "USD")
    if left is None or block.ends_at is None:
        return f"{line}; its times are not known"
    return f"{line}, of which {money(left, 'USD')} is for the time until {utc(block.ends_at)}"


def _origins(found: Estimate, now: datetime) -> Iterator[str]:
    prices = {each.price.source: each.price for each in found.items if each.price}
    stale = {each.source for each in found.stale(now.date())}
    for each in sorted(prices.values(), key=lambda price: (price.day, price.source)):
        old = "; older than 90 days" if each.source in stale else ""
        yield f"prices of {each.day}{old}: {each.source} ({each.url})"
    if stale:
        yield f"refresh the snapshot: python -m tools.prices --region {found.region}"


def _document(stack: str, costs: Cost, now: datetime) -> dict[str, Any]:
    found = costs.estimate
    budget = costs.config.budget
    return {
        "stack": stack,
        "region": found.region,
        "currency": "USD",
        "hours_per_month": HOURS_PER_MONTH,
        "hourly_usd": round(found.hourly_usd, 4),
        "monthly_usd": round(found.monthly_usd, 2),
        "most_hourly_usd": round(found.most_hourly_usd, 4),
        "hourly_usd_after_blocks": round(found.hourly_usd_after_blocks, 4),
        "budget_monthly_usd": budget and budget.monthly_usd,
        "complete": not found.unknown,
        "items": [_item(each, now) for each in found.items],
        "capacity_blocks": [_block(each, now) for each in found.blocks],
        "notes": [*costs.notes],
    }


def _item(item: CostItem, now: datetime) -> dict[str, Any]:
    known = item.price is not None and item.period != "use"
    return {
        "group": item.group,
        "what": item.what,
        "resource": item.resource,
        "quantity": item.quantity,
        "most_quantity": max(item.most, item.quantity),
        "unit": item.unit,
        "period": item.period,
        "price_usd": item.price and item.price.usd,
        "hourly_usd": round(item.hourly_usd, 6) if known else None,
        "monthly_usd": round(item.hourly_usd * HOURS_PER_MONTH, 4) if known else None,
        "ends_with_block": item.in_block,
        "paid_whether_used": item.whether_used,
        "source": item.price and item.price.source,
        "source_url": item.price and item.price.url,
        "price_day": item.price and item.price.day.isoformat(),
        "stale": bool(item.price and item.price.is_stale(now.date())),
    }


def _block(block: BlockCost, now: datetime) -> dict[str, Any]:
    left = block.left_usd(now)
    return {
        "resource": block.resource,
        "reservation_id": block.reservation_id,
        "nodes": block.nodes,
        "fee_usd": block.fee_usd,
        "left_usd": None if left is None else round(left, 2),
        "starts_at": block.starts_at and block.starts_at.isoformat(),
        "ends_at": block.ends_at and block.ends_at.isoformat(),
    }

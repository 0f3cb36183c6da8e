"""A plan above its budget is refused, with the largest charge and the key to change."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.batch import RAW
from tests.support.eks import (
    NOW,
    REGION,
    block,
    p5,
)
from tests.support.stack_files import raw_config
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.config.load import load_stack_config
from trainyard.components.config.problems import ConfigError


def notes(raw: dict[str, Any], now: datetime = NOW) -> tuple[str, ...]:
    file = "Pulumi.p5-cb.yaml"
    config = load_stack_config(raw, stack_file=file)
    return plan_stack(config, stack_file=file, region=REGION, now=now).notes


def with_budget(raw: dict[str, Any], monthly_usd: int) -> dict[str, Any]:
    return {**raw, "budget": {"monthly_usd": monthly_usd}}


def test_a_plan_above_the_budget_is_refused_with_the_largest_charge_and_the_fix() -> None:
    raw = p5(purchase_option="on-demand", availability_zone="us-west-2b")
    with pytest.raises(ConfigError) as refused:
        notes(with_budget(raw, 5000))
    (problem,) = refused.value.problems
    assert problem.path == "trainyard:cluster.budget.monthly_usd"
    assert problem.found == 5000
    assert problem.allowed == "80766 or more"
    assert "the plan costs 80,766.00 USD a month at list prices" in problem.problem
    assert "architecture.node_groups.p5 (2 x p5.48xlarge, on demand: 80,358.40 USD)" in (
        problem.problem
    )
    assert "trainyard:cluster.budget.monthly_usd' 80766" in problem.remedy
    assert not [each for each in notes(with_budget(raw, 80766)) if each.startswith("budget")]


def test_the_fee_of_a_block_does_not_count() -> None:
    raw = block(upfront_fee_usd=100_000)
    assert notes(with_budget(raw, 500)) == notes(raw)


def test_unknown_prices_are_noted_and_not_taken_for_nothing() -> None:
    raw = p5(purchase_option="spot", efa_enabled=False)
    (said,) = set(notes(with_budget(raw, 500))) - set(notes(raw))
    assert said == (
        "budget.monthly_usd: the prices of architecture.node_groups.p5 are not known, so they are "
        "not in the budget"
    )


def test_nodes_of_jobs_above_the_budget_are_noted() -> None:
    raw = raw_config(RAW)
    said = [each for each in notes(with_budget(raw, 100)) if each.startswith("budget")]
    assert len(said) == 1
    assert "a month with all nodes that jobs can launch costs" in said[0]


def test_extended_support_alone_breaks_no_budget() -> None:
    """The cluster costs more from a date on, and stays operable."""
    raw = with_budget(p5(purchase_option="on-demand", availability_zone="us-west-2b"), 80766)
    late = datetime(2029, 11, 28, tzinfo=UTC)
    (said,) = (each for each in notes(raw, late) if each.startswith("budget"))
    assert "with extended support, the plan costs 81,131.00 USD a month" in said
    with pytest.raises(ConfigError):
        notes(with_budget(raw, 80765), late)

"""The list of checks: each names what it needs to know, and is silent without it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.stacks import NOW, account_facts, stack_config
from trainyard.components.account.check import Check, Row
from trainyard.components.account.facts import PreflightFacts
from trainyard.components.account.known import Knowledge, Known, NotKnownError
from trainyard.components.architectures.checks import (
    CHECKS,
    WITHOUT_ACCOUNT,
    run_checks,
)
from trainyard.components.architectures.lookup import all_names
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.architectures.prepare import complete
from trainyard.components.architectures.registry import account_of
from trainyard.components.config.load import load_stack_config

STACKS = ("p5-cb", "eks-p4de-odcr", "pc-gpu", "batch-p5", "vpc-one-az")
EVERYTHING: frozenset[Knowledge] = frozenset({"plan", "account", "preflight"})


def known_of(stack: str) -> Known[Any, Any]:
    """Return a stack with its plan, its account and its preflight."""
    file, raw, facts = f"Pulumi.{stack}.yaml", stack_config(stack), account_facts()
    region = raw["aws:region"]
    config = load_stack_config(raw["trainyard:cluster"], stack_file=file)
    completed = complete(config, facts)
    return Known(
        given=config,
        config=completed,
        stack_file=file,
        region=region,
        now=NOW,
        architecture=account_of(config).needs,
        names=all_names(config),
        planned=plan_stack(completed, stack_file=file, region=region, now=NOW),
        account=facts,
        live=PreflightFacts(),
    )


def only(known: Known[Any, Any], knowledge: frozenset[Knowledge]) -> Known[Any, Any]:
    """Return what is known without what is not in `knowledge`."""
    has_account = "account" in knowledge
    return replace(
        known,
        planned=known.planned if "plan" in knowledge else None,
        account=known.account if has_account else None,
        architecture=known.architecture if has_account else None,
        live=known.live if "preflight" in knowledge else None,
    )


@pytest.mark.parametrize("stack", STACKS)
def test_each_check_needs_what_it_names_and_no_more(stack: str) -> None:
    """What is not named is not known here, and reading it would fail."""
    known = known_of(stack)
    for check in CHECKS:
        for found in check.run(only(known, check.needs)):
            assert isinstance(found, Check | Row | str)


def test_a_check_that_needs_more_than_it_names_fails() -> None:
    known = known_of("p5-cb")
    for check in CHECKS:
        if check.needs == EVERYTHING:
            with pytest.raises(NotKnownError):
                list(check.run(only(known, frozenset({"account", "plan"}))))


def test_each_check_runs_once_on_the_way_to_the_preflight() -> None:
    """The plan, the plan with its cost, and then the account, whether it can be planned or not."""
    known, plan = known_of("p5-cb"), WITHOUT_ACCOUNT
    first = [*run_checks(only(known, frozenset()))]
    second = [*run_checks(only(known, plan), after=frozenset())]
    third = [*run_checks(known, after=plan)]
    at_once = [*run_checks(known)]
    assert len(at_once) == len(first) + len(second) + len(third)
    assert {each.name for each in at_once if isinstance(each, Check)} == {
        each.name for each in (*first, *second, *third) if isinstance(each, Check)
    }


def test_rows_of_the_preflight_need_the_preflight() -> None:
    known = known_of("p5-cb")
    without = run_checks(only(known, frozenset({"plan", "account"})))
    assert not [each for each in without if isinstance(each, Row)]
    assert [each for each in run_checks(known) if isinstance(each, Row)]


def test_without_the_account_only_checks_of_the_stack_file_and_the_plan_run() -> None:
    found = run_checks(only(known_of("p5-cb"), WITHOUT_ACCOUNT))
    names = {each.name for each in found if isinstance(each, Check)}
    own = {"ARNs", "DNS names", "registries", "times", "drivers of images"}
    assert names == own | {"policies", "monitoring", "effect", "verification", "budget"}

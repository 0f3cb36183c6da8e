"""Plan a stack of any architecture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from trainyard.components.account.check import Check, Finding
from trainyard.components.account.known import Known
from trainyard.components.architectures.checks import run_checks
from trainyard.components.architectures.registry import ARCHITECTURES
from trainyard.components.catalog.regions import is_known_region, nearest_region
from trainyard.components.config.problems import ConfigError, Review
from trainyard.components.network.network_plan import plan_network
from trainyard.components.network.pool_place import PlanContext

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan
    from trainyard.components.config.load import AnyStackConfig


def plan_stack(
    config: AnyStackConfig,
    *,
    stack_file: str,
    region: str,
    now: datetime,
    subnets_known: bool = False,
    offered_zones: Mapping[str, tuple[str, ...]] | None = None,
    without_subnet: frozenset[str] = frozenset(),
    log_groups: Mapping[str, int] | None = None,
) -> AnyPlan:
    """Return the plan of a stack.

    Args:
        config: The stack file.
        stack_file: Name of the stack file, for messages and commands.
        region: Region of the stack.
        now: Current time, timezone-aware.
        subnets_known: Whether the account was queried and the subnets of nodes are filled in.
            Without the account, the zones of subnets are unknown: a pool that must launch in one
            zone keeps all candidate subnets, with a note. With it, that is refused.
        offered_zones: Zones of a new VPC that offer an instance type, by type, if the account was
            queried.
        without_subnet: Pools in whose zone an existing VPC has no private subnet, by `launch_key`;
            the account checks refuse them.
        log_groups: Log groups that the stack adopts: days to keep their events, by name.

    Raises:
        ConfigError: every problem that the configuration has.
    """
    architecture = ARCHITECTURES[config.architecture.kind]
    context = PlanContext(
        config=config,
        network=plan_network(
            config.network,
            region=region,
            public_subnet_tags=architecture.public_subnet_tags,
            private_subnet_tags=architecture.private_subnet_tags,
        ),
        region=region,
        now=now,
        subnets_known=subnets_known,
        offered_zones=offered_zones or {},
        without_subnet=without_subnet,
        log_groups=log_groups or {},
    )
    review = Review(stack_file=stack_file)
    known: Known[Any, AnyPlan] = Known(
        given=config, config=config, stack_file=stack_file, region=region, now=now
    )
    _take(review, run_checks(known))
    if not is_known_region(region):
        review.note(f"{region} is not a region that this version knows; {_nearest(region)}")
    plan = architecture.planner()(context, review)
    noted = len(review.notes)
    _take(review, run_checks(replace(known, planned=plan), after=frozenset()))
    review.close()
    return replace(plan, notes=(*plan.notes, *review.notes[noted:]))


def _take(review: Review, findings: Iterable[Finding]) -> None:
    for each in findings:
        if isinstance(each, str):
            review.note(each)
        elif isinstance(each, Check):
            review.problems.extend(each.problems)


def with_plan_problems(error: ConfigError, *, region: str, now: datetime) -> ConfigError:
    """Return a refusal by the schema together with what the plan would refuse besides.

    Args:
        error: The refusal of the schema.
        region: Region of the stack; empty if it has none, which nothing is planned in.
        now: Current time, timezone-aware.
    """
    assumed = error.assumed
    if assumed is None or not region:
        return error
    try:
        plan_stack(assumed.config, stack_file=error.stack_file, region=region, now=now)
    except ConfigError as refused:
        further = tuple(each for each in refused.problems if assumed.is_of_the_user(each))
        problems = [*error.problems, *further]
        return ConfigError(problems, stack_file=error.stack_file, assumed=assumed, of_plan=further)
    return error


def _nearest(region: str) -> str:
    nearest = nearest_region(region)
    return f"the nearest is {nearest}" if nearest else "verify its name"

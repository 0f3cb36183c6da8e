"""Plan a stack and check it against the account, before any resource is registered.

Only the checks of the stack's architecture are imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from components.account.check import Check
from components.account.complete import complete, offered_zones
from components.account.facts import AccountFacts
from components.account.file_system_check import file_system_problems
from components.account.file_system_complete import complete_storage
from components.account.network_check import (
    BATCH_NODES,
    EKS_NODES,
    PARALLELCLUSTER_NODES,
    network_problems,
)
from components.account.network_reference import at_reference
from components.account.pool_check import pool_problems, reserved_zone_problems, without_settled
from components.account.reservation_check import reservation_problems
from components.account.stack_lookup import look_up as look_up
from components.account.zone_check import zone_problems
from components.architectures.plan_stack import plan_stack
from components.batch.plan import BatchPlan
from components.config.network import ExistingVpc
from components.config.problems import ConfigError, Problem
from components.config.stack_models import is_batch, is_eks, is_parallelcluster
from components.eks.plan import EksPlan
from components.parallelcluster.plan import ParallelClusterPlan
from components.plain_text import legible

if TYPE_CHECKING:
    from components.architectures.plan_stack import AnyPlan
    from components.config.stack_models import AnyStackConfig

_NODE_NEEDS = {"eks": EKS_NODES, "parallelcluster": PARALLELCLUSTER_NODES, "batch": BATCH_NODES}
"""By kind of architecture; a network stack has no nodes."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan that was checked against the account."""

    plan: AnyPlan
    warnings: tuple[str, ...]
    """Skipped checks, and warnings to show before any change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """A configuration and its checks against the account."""

    config: AnyStackConfig
    """Completed with values from the account."""
    plan: AnyPlan | None
    """None if the configuration cannot be planned in this account."""
    checks: tuple[Check, ...]
    """Completed checks; those of the plan last."""
    warnings: tuple[str, ...]
    """Warnings to show before any change."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems."""
        # Plan and account can report the same problem; the report of the account comes first.
        seen: dict[tuple[str, str], Problem] = {}
        for check in self.checks:
            for problem in check.problems:
                seen.setdefault((problem.path, str(problem.problem)), problem)
        return tuple(seen.values())


def prepare(
    config: AnyStackConfig, facts: AccountFacts, *, stack_file: str, region: str, now: datetime
) -> Prepared:
    """Return the plan of a stack in this account.

    Raises:
        ConfigError: every problem of the plan and of the account at once.
    """
    found = examine(config, facts, stack_file=stack_file, region=region, now=now)
    if found.plan is None or found.problems:
        raise ConfigError(found.problems, stack_file=stack_file)
    unreadable = (f"not checked: {call}" for call in facts.unreadable)
    warnings = tuple(legible(warning) for warning in (*unreadable, *found.warnings))
    return Prepared(plan=found.plan, warnings=warnings)


def examine(
    config: AnyStackConfig, facts: AccountFacts, *, stack_file: str, region: str, now: datetime
) -> Examined:
    """Return the plan of a stack in this account, and the results of all checks."""
    completed = complete_storage(complete(config, facts), facts)
    checks = list(_account_checks(completed, facts, stack_file=stack_file))
    if config.reservations:
        checks.append(Check("zones of reservations", reserved_zone_problems(config, facts)))
    plan: AnyPlan | None = None
    try:
        plan = plan_stack(
            completed,
            stack_file=stack_file,
            region=region,
            now=now,
            subnets_known=isinstance(config.network, ExistingVpc) or bool(facts.zones),
            offered_zones=offered_zones(completed, facts),
        )
    except ConfigError as error:
        checks.append(Check("plan", without_settled(error.problems, completed, facts)))
    else:
        checks.extend(_plan_checks(plan, facts, stack_file=stack_file))
    return Examined(
        config=completed,
        plan=plan,
        checks=tuple(_named_for_people(check, config) for check in checks),
        warnings=() if plan is None else tuple(_warnings(completed, plan, facts)),
    )


def _named_for_people(check: Check, config: AnyStackConfig) -> Check:
    problems = (at_reference(problem, config.network_stack) for problem in check.problems)
    return Check(check.name, problems)


def _account_checks(
    config: AnyStackConfig, facts: AccountFacts, *, stack_file: str
) -> Iterator[Check]:
    if isinstance(config.network, ExistingVpc):
        if needs := _NODE_NEEDS.get(config.architecture.kind):
            yield Check("VPC and subnets", network_problems(config.network, facts, needs))
    else:
        yield Check("zones", zone_problems(config, facts))
    yield Check("reservations", reservation_problems(config, facts))
    yield Check("offered types", pool_problems(config, facts))
    yield Check("file systems", file_system_problems(config, facts))
    if is_eks(config):
        from components.account.eks_checks import eks_checks

        yield from eks_checks(config, facts, stack_file=stack_file)
    elif is_parallelcluster(config):
        from components.account.parallelcluster_checks import parallelcluster_checks

        yield from parallelcluster_checks(config, facts)
    elif is_batch(config):
        from components.account.batch_checks import batch_checks

        yield from batch_checks(config, facts)


def _plan_checks(plan: AnyPlan, facts: AccountFacts, *, stack_file: str) -> Iterator[Check]:
    if isinstance(plan, EksPlan):
        from components.account.eks_checks import eks_plan_checks

        yield from eks_plan_checks(plan, facts, stack_file=stack_file)
    elif isinstance(plan, ParallelClusterPlan):
        from components.account.parallelcluster_checks import parallelcluster_plan_checks

        yield from parallelcluster_plan_checks(plan, facts, stack_file=stack_file)
    elif isinstance(plan, BatchPlan):
        from components.account.batch_checks import batch_plan_checks

        yield from batch_plan_checks(plan, facts)


def _warnings(config: AnyStackConfig, plan: AnyPlan, facts: AccountFacts) -> Iterator[str]:
    if is_eks(config):
        from components.account.eks_checks import eks_warnings

        if isinstance(plan, EksPlan):
            yield from eks_warnings(config, plan, facts)
    elif is_parallelcluster(config):
        from components.account.parallelcluster_checks import parallelcluster_warnings

        yield from parallelcluster_warnings(config, facts)
    elif is_batch(config):
        from components.account.batch_checks import batch_warnings

        yield from batch_warnings(config, facts)

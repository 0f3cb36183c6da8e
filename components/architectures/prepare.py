"""Plan a stack and check it against the account, before any resource is registered.

Only the checks of the stack's architecture are imported.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from trainyard.components.account.check import Check, Row
from trainyard.components.account.facts import AccountFacts, PreflightFacts
from trainyard.components.account.known import Known
from trainyard.components.architectures.checks import WITHOUT_ACCOUNT, run_checks
from trainyard.components.architectures.lookup import all_names
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.architectures.registry import account_of
from trainyard.components.capacity.launch_place import offered_zones, pools_without_subnet
from trainyard.components.capacity.reservations import complete_reservation
from trainyard.components.config.network import ExistingVpc
from trainyard.components.config.problems import ConfigError, Problem
from trainyard.components.network.checks import at_reference
from trainyard.components.plain_text import legible
from trainyard.components.storage.checks import complete_storage

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan
    from trainyard.components.config.load import AnyStackConfig


def complete(config: AnyStackConfig, facts: AccountFacts) -> AnyStackConfig:
    """Return the configuration with missing values filled in.

    These are values of reservations, subnets of nodes, and subnets and names of file systems.
    Values in the stack file are not changed, and unknown values are not filled in.
    """
    account = account_of(config)
    reservations = {
        name: complete_reservation(name, reservation, facts)
        for name, reservation in config.reservations.items()
    }
    places_file_systems = account.needs.places_file_systems
    update = {
        "reservations": reservations,
        "architecture": account.completed(config, facts),
        "storage": complete_storage(config, facts, places_file_systems=places_file_systems),
    }
    return config.model_copy(update=update)


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
    rows: tuple[Row, ...]
    """What only the preflight shows."""
    warnings: tuple[str, ...]
    """Warnings to show before any change."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems."""
        return tuple(problem for check in self.checks for problem in check.problems)


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
    config: AnyStackConfig,
    facts: AccountFacts,
    *,
    stack_file: str,
    region: str,
    now: datetime,
    live: PreflightFacts | None = None,
) -> Examined:
    """Return the plan of a stack in this account, and the results of all checks.

    `live` is what only the preflight asks the account for; without it, its rows are missing.
    """
    completed, account = complete(config, facts), account_of(config)
    known: Known[Any, AnyPlan] = Known(
        given=config,
        config=completed,
        stack_file=stack_file,
        region=region,
        now=now,
        architecture=account.needs,
        names=all_names(config),
        is_up=account.is_up(completed, facts),
        account=facts,
        live=live,
    )
    try:
        plan = plan_stack(
            completed,
            stack_file=stack_file,
            region=region,
            now=now,
            subnets_known=isinstance(config.network, ExistingVpc) or bool(facts.zones),
            offered_zones=offered_zones(completed, facts),
            without_subnet=pools_without_subnet(completed, facts),
            log_groups=account.log_groups(facts, now),
        )
        known = replace(known, planned=plan)
    except ConfigError as error:
        known = replace(known, plan_problems=tuple(error.problems))
    findings = [*run_checks(known, after=WITHOUT_ACCOUNT)]
    checks = (each for each in findings if isinstance(each, Check))
    return Examined(
        config=completed,
        plan=known.planned,
        checks=tuple(_named_for_people(check, config) for check in checks),
        rows=tuple(each for each in findings if isinstance(each, Row)),
        warnings=tuple(each for each in findings if isinstance(each, str)),
    )


def _named_for_people(check: Check, config: AnyStackConfig) -> Check:
    problems = (at_reference(problem, config.network_stack) for problem in check.problems)
    return Check(check.name, problems, check.subjects)

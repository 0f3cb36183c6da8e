"""Plan a stack and check it against the account, before any resource is registered.

Only the checks of the stack's architecture are imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from trainyard.components.account.check import ArchitectureNeeds, Check, as_warnings
from trainyard.components.account.facts import AccountFacts
from trainyard.components.account_part import AccountPart
from trainyard.components.architectures.lookup import all_names
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.architectures.registry import account_of
from trainyard.components.capacity.checks import (
    STATED_VALUES,
    later_reservation_warnings,
    over_problems,
    reservation_problems,
    reservation_subjects,
    stated_problems,
)
from trainyard.components.capacity.launch_place import offered_zones, pools_without_subnet
from trainyard.components.capacity.reservations import complete_reservation
from trainyard.components.compute.checks import (
    offering_subjects,
    pool_image_problems,
    pool_image_subjects,
    pool_problems,
    public_image_problems,
    public_image_subjects,
    shared_group_problems,
)
from trainyard.components.compute.image_registry import UsedImage
from trainyard.components.config.network import ExistingVpc
from trainyard.components.config.problems import ConfigError, Problem
from trainyard.components.named.checks import named_checks, named_warnings
from trainyard.components.named.object_kind import NamedContext
from trainyard.components.network.adopted_vpc_check import (
    adopted_vpc_problems,
    adopted_vpc_subjects,
)
from trainyard.components.network.checks import (
    at_reference,
    network_problems,
    network_subjects,
    zone_problems,
    zone_subjects,
)
from trainyard.components.plain_text import legible
from trainyard.components.quotas.checks import Need, quota_check, quota_warnings, shared_needs
from trainyard.components.storage.checks import (
    complete_storage,
    file_system_problems,
    file_system_subjects,
)

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
    config: AnyStackConfig, facts: AccountFacts, *, stack_file: str, region: str, now: datetime
) -> Examined:
    """Return the plan of a stack in this account, and the results of all checks."""
    completed = complete(config, facts)
    account = account_of(config)
    is_up = account.is_up(completed, facts)
    over = tuple(over_problems(completed, now, stack_file=stack_file))
    checks = [
        *_shared_checks(completed, facts, account.needs, now, over=() if is_up else over),
        *account.checks(completed, facts, stack_file=stack_file, now=now),
    ]
    names = all_names(config)
    context = NamedContext(completed, facts, region, stack_file)
    checks.extend(named_checks(names, context))
    if config.reservations:
        stated = stated_problems(config, facts)
        checks.append(Check("values of reservations", stated, [STATED_VALUES]))
    plan: AnyPlan | None = None
    needs: tuple[Need, ...] = ()
    unchanged: tuple[str, ...] = ()
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
    except ConfigError as error:
        checks.append(Check("plan", error.problems))
    else:
        checks.extend(account.plan_checks(plan, facts, stack_file=stack_file))
        pinned, unchanged = _pin_checks(account, plan, facts, stack_file, is_up=is_up)
        checks.extend(pinned)
        needs = (*shared_needs(completed, plan), *account.quota_needs(plan))
        checks.append(quota_check(needs, facts, region))
    return Examined(
        config=completed,
        plan=plan,
        checks=tuple(_named_for_people(check, config) for check in checks),
        warnings=(
            *(f"left out: {what}: {why}" for what, why in facts.left_out.items()),
            *named_warnings(names, context),
            *unchanged,
            *(as_warnings(over) if is_up else ()),
            *later_reservation_warnings(completed, facts),
            *(() if plan is None else account.warnings(completed, plan, facts)),
            *(() if plan is None else quota_warnings(needs, facts, region)),
        ),
    )


def _pin_checks(
    account: AccountPart[Any, Any],
    plan: AnyPlan,
    facts: AccountFacts,
    stack_file: str,
    *,
    is_up: bool,
) -> tuple[list[Check], tuple[str, ...]]:
    """Return the checks of what the program pins, and the warnings of their subjects.

    A stack that is up has warnings instead of problems: its nodes run, and an update that changes
    nothing must work. So has an image that only a later command pulls.
    """
    pools, images = plan.node_pools, [*account.container_images(plan, stack_file=stack_file)]
    missing = pool_image_problems(
        pools, facts, region=plan.region, remedy=account.pool_image_remedy
    )
    refusing = [
        Check("AMIs", missing, pool_image_subjects(pools, facts)),
        _image_check((image for image in images if not image.later), facts),
    ]
    warning = [_image_check((image for image in images if image.later), facts)]
    if is_up:
        refusing, warning = [], [*refusing, *warning]
    told = as_warnings(problem for check in warning for problem in check.problems)
    return [*refusing, *map(_without_problems, warning)], tuple(told)


def _image_check(images: Iterable[UsedImage], facts: AccountFacts) -> Check:
    used = tuple(images)
    subjects = public_image_subjects(used, facts)
    return Check("public images", public_image_problems(used, facts), subjects)


def _without_problems(check: Check) -> Check:
    """Return what a check found to be right; warnings tell the rest."""
    wrong = {problem.found for problem in check.problems}
    subjects = (subject for subject in check.subjects if subject.found not in wrong)
    return Check(check.name, (), subjects)


def _named_for_people(check: Check, config: AnyStackConfig) -> Check:
    problems = (at_reference(problem, config.network_stack) for problem in check.problems)
    return Check(check.name, problems, check.subjects)


def _shared_checks(
    config: AnyStackConfig,
    facts: AccountFacts,
    needs: ArchitectureNeeds,
    now: datetime,
    *,
    over: Iterable[Problem],
) -> Iterator[Check]:
    network = config.network
    if not isinstance(network, ExistingVpc):
        yield Check("zones", zone_problems(config, facts, needs), zone_subjects(network, facts))
        adopted = adopted_vpc_problems(config, facts)
        yield Check("adopted VPC", adopted, adopted_vpc_subjects(network))
    elif needs.nodes is not None:
        problems = network_problems(network, facts, needs.nodes)
        yield Check("VPC and subnets", problems, network_subjects(network, facts))
    reservations = [*over, *reservation_problems(config, facts, now)]
    yield Check("reservations", reservations, reservation_subjects(config, facts))
    yield Check("offered types", pool_problems(config, facts), offering_subjects(config, facts))
    yield Check("placement groups", shared_group_problems(config, facts))
    storage = file_system_problems(config, facts)
    yield Check("file systems", storage, file_system_subjects(config))

"""From a stack file to a plan that fits the account: everything that precedes a registration.

The checks of another architecture than the stack's are not imported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from components.account.complete import complete, offered_zones
from components.account.facts import AccountFacts
from components.account.file_system_check import file_system_problems
from components.account.file_system_complete import complete_storage
from components.account.file_system_lookup import look_up_file_systems
from components.account.lookup import AccountReader
from components.account.network_check import (
    BATCH_NODES,
    EKS_NODES,
    PARALLELCLUSTER_NODES,
    network_problems,
)
from components.account.network_reference import at_reference
from components.account.pool_check import pool_problems, without_settled
from components.account.reservation_check import reservation_problems
from components.account.reservations import look_up_reservation_groups, look_up_reservations
from components.account.zone_check import zone_problems
from components.architectures.plan_stack import plan_stack
from components.batch.plan import BatchPlan
from components.config.network import ExistingVpc, NewVpc
from components.config.pools import pools
from components.config.problems import ConfigError, Problem
from components.config.stack import (
    AnyStackConfig,
    BatchStackConfig,
    EksStackConfig,
    ParallelClusterStackConfig,
)
from components.eks.plan import EksPlan
from components.parallelcluster.plan import ParallelClusterPlan

if TYPE_CHECKING:
    from components.architectures.plan_stack import AnyPlan

_NODE_NEEDS = {"eks": EKS_NODES, "parallelcluster": PARALLELCLUSTER_NODES, "batch": BATCH_NODES}
"""By the kind of the architecture; a network alone has no nodes."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan whose every assumption about the account was looked at."""

    plan: AnyPlan
    warnings: tuple[str, ...]
    """What could not be looked at, and what the user should know before it is done."""


def prepare(
    config: AnyStackConfig, facts: AccountFacts, *, stack_file: str, region: str, now: datetime
) -> Prepared:
    """Return the plan of a stack in this account.

    Raises:
        ConfigError: every problem of the plan and of the account at once.
    """
    completed = complete_storage(complete(config, facts), facts)
    problems = list(_account_problems(completed, facts, stack_file=stack_file))
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
        problems.extend(_plan_problems(plan, facts, stack_file=stack_file))
    except ConfigError as error:
        problems.extend(without_settled(error.problems, completed, facts))
    if plan is None or problems:
        named = [at_reference(problem, config.network_stack) for problem in problems]
        raise ConfigError(_without_repeats(named), stack_file=stack_file)
    unreadable = (f"not checked: {call}" for call in facts.unreadable)
    return Prepared(plan=plan, warnings=(*unreadable, *_warnings(completed, plan, facts)))


def look_up(config: AnyStackConfig, *, region: str, profile: str | None = None) -> AccountFacts:
    """Read from AWS what the stack file depends on.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    reader = AccountReader(region=region, profile=profile)
    account_id = reader.account_id()
    groups_of_reservations = look_up_reservation_groups(reader, config)
    network = config.network
    vpc, subnets, zones = None, {}, ()
    if isinstance(network, NewVpc):
        zones = reader.zones()
    else:
        vpc = reader.vpc(network.vpc_id)
        subnets = reader.subnets((*network.public_subnet_ids, *network.private_subnet_ids))
    keys = {key: reader.key_pair_type(key) for key in _key_names(config)}
    facts = AccountFacts(
        account_id=account_id,
        vpc=vpc,
        subnets=subnets,
        zones=zones,
        reservations=look_up_reservations(reader, config, groups_of_reservations),
        reservation_groups=groups_of_reservations,
        key_pairs={key: kind for key, kind in keys.items() if kind is not None},
        offered_zone_ids={name: reader.offered_zone_ids(name) for name in _types(config)},
        file_systems=look_up_file_systems(reader, config),
    )
    return replace(
        _with_architecture(reader, config, facts),
        unreadable=tuple(dict.fromkeys(reader.unreadable)),
    )


def _with_architecture(
    reader: AccountReader, config: AnyStackConfig, facts: AccountFacts
) -> AccountFacts:
    if isinstance(config, EksStackConfig):
        from components.account.eks_checks import look_up_eks

        return look_up_eks(reader, config, facts)
    if isinstance(config, ParallelClusterStackConfig):
        from components.account.parallelcluster_checks import look_up_parallelcluster

        return look_up_parallelcluster(reader, config, facts)
    if isinstance(config, BatchStackConfig):
        from components.account.batch_checks import look_up_batch

        return look_up_batch(reader, config, facts)
    return facts


def _key_names(config: AnyStackConfig) -> list[str]:
    named: list[str | None] = []
    if isinstance(config, EksStackConfig):
        named = [group.ssh_key_name for group in config.architecture.node_groups.values()]
    elif isinstance(config, ParallelClusterStackConfig):
        named = [config.architecture.head_node.ssh.key_name]
    elif isinstance(config, BatchStackConfig):
        named = [each.ssh_key_name for each in config.architecture.compute_environments.values()]
    return sorted({name for name in named if name is not None})


def _types(config: AnyStackConfig) -> list[str]:
    """Return the instance types whose zones must be known."""
    types = {pool.instance_type for pool in pools(config)}
    if isinstance(config, ParallelClusterStackConfig):
        types.add(config.architecture.head_node.instance_type)
    elif isinstance(config, EksStackConfig) and isinstance(config.network, NewVpc):
        types.add(config.architecture.system_node_group.instance_type)
    return sorted(types)


def _account_problems(
    config: AnyStackConfig, facts: AccountFacts, *, stack_file: str
) -> Iterator[Problem]:
    if isinstance(config.network, ExistingVpc):
        if needs := _NODE_NEEDS.get(config.architecture.kind):
            yield from network_problems(config.network, facts, needs)
    else:
        yield from zone_problems(config, facts)
    yield from reservation_problems(config, facts)
    yield from pool_problems(config, facts)
    yield from file_system_problems(config, facts)
    if isinstance(config, EksStackConfig):
        from components.account.eks_checks import eks_problems

        yield from eks_problems(config, facts, stack_file=stack_file)
    elif isinstance(config, ParallelClusterStackConfig):
        from components.account.parallelcluster_checks import parallelcluster_problems

        yield from parallelcluster_problems(config, facts)
    elif isinstance(config, BatchStackConfig):
        from components.account.batch_checks import batch_problems

        yield from batch_problems(config, facts)


def _plan_problems(plan: AnyPlan, facts: AccountFacts, *, stack_file: str) -> Iterator[Problem]:
    if isinstance(plan, EksPlan):
        from components.account.eks_checks import eks_plan_problems

        yield from eks_plan_problems(plan, facts, stack_file=stack_file)
    elif isinstance(plan, ParallelClusterPlan):
        from components.account.parallelcluster_checks import parallelcluster_plan_problems

        yield from parallelcluster_plan_problems(plan, facts, stack_file=stack_file)
    elif isinstance(plan, BatchPlan):
        from components.account.batch_checks import batch_plan_problems

        yield from batch_plan_problems(plan, facts)


def _warnings(config: AnyStackConfig, plan: AnyPlan, facts: AccountFacts) -> Iterator[str]:
    if isinstance(config, EksStackConfig):
        from components.account.eks_checks import eks_warnings

        if isinstance(plan, EksPlan):
            yield from eks_warnings(config, plan, facts)
    elif isinstance(config, ParallelClusterStackConfig):
        from components.account.parallelcluster_checks import parallelcluster_warnings

        yield from parallelcluster_warnings(config, facts)
    elif isinstance(config, BatchStackConfig):
        from components.account.batch_checks import batch_warnings

        yield from batch_warnings(config, facts)


def _without_repeats(problems: list[Problem]) -> list[Problem]:
    # The plan and the account may both see one fault; the account's words come first.
    seen: dict[tuple[str, str], Problem] = {}
    for problem in problems:
        seen.setdefault((problem.path, str(problem.problem)), problem)
    return list(seen.values())

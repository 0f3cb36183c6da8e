"""From a stack file to a plan that fits the account: everything that precedes a registration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from components.account.addon_version_check import addon_version_problems, look_up_addon_offers
from components.account.authorization_check import (
    authorization_problems,
    authorization_warnings,
    needs_aws_auth,
)
from components.account.cluster_lookup import look_up_cluster
from components.account.complete import complete, offered_zones
from components.account.facts import AccountFacts
from components.account.file_system_check import (
    file_system_plan_problems,
    file_system_problems,
    file_system_warnings,
)
from components.account.file_system_complete import complete_storage
from components.account.file_system_lookup import look_up_file_systems
from components.account.lookup import AccountReader
from components.account.network_check import network_problems
from components.account.pool_check import pool_problems, room_problems
from components.account.reservation_check import reservation_problems
from components.account.reservations import look_up_reservation_groups, look_up_reservations
from components.account.version_check import version_problems, version_warnings
from components.account.zone_check import zone_problems
from components.architectures.eks_plan import plan_eks
from components.config.network import ExistingVpc, NewVpc
from components.config.problems import ConfigError, Problem
from components.config.stack import StackConfig
from components.eks.plan import EksPlan


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan whose every assumption about the account was looked at."""

    plan: EksPlan
    warnings: tuple[str, ...]
    """What could not be looked at, and what the user should know before it is done."""


def prepare(
    config: StackConfig, facts: AccountFacts, *, stack_file: str, region: str, now: datetime
) -> Prepared:
    """Return the plan of a stack in this account.

    Raises:
        ConfigError: every problem of the plan and of the account at once.
    """
    completed = complete_storage(complete(config, facts), facts)
    problems = list(_account_problems(completed, facts))
    problems.extend(authorization_problems(completed, facts, stack_file=stack_file))
    problems.extend(version_problems(completed, facts, stack_file=stack_file))
    problems.extend(addon_version_problems(completed, facts, stack_file=stack_file))
    plan: EksPlan | None = None
    try:
        plan = plan_eks(
            completed,
            stack_file=stack_file,
            region=region,
            now=now,
            subnets_known=isinstance(config.network, ExistingVpc) or bool(facts.zones),
            offered_zones=offered_zones(completed, facts),
        )
        problems.extend(room_problems(plan, facts))
        problems.extend(file_system_plan_problems(plan, facts, stack_file=stack_file))
    except ConfigError as error:
        problems.extend(error.problems)
    if plan is None or problems:
        raise ConfigError(_without_repeats(problems), stack_file=stack_file)
    warnings = (
        *(f"not checked: {call}" for call in facts.unreadable),
        *authorization_warnings(completed, facts),
        *version_warnings(completed, facts),
        *file_system_warnings(plan, facts),
    )
    return Prepared(plan=plan, warnings=warnings)


def look_up(config: StackConfig, *, region: str, profile: str | None = None) -> AccountFacts:
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
    groups = config.architecture.node_groups.values()
    keys = {group.ssh_key_name for group in groups if group.ssh_key_name}
    types = {group.instance_type for group in groups}
    if isinstance(network, NewVpc):
        types.add(config.architecture.system_node_group.instance_type)
    offered = {name: reader.offered_zone_ids(name) for name in sorted(types)}
    return AccountFacts(
        account_id=account_id,
        vpc=vpc,
        subnets=subnets,
        zones=zones,
        reservations=look_up_reservations(reader, config, groups_of_reservations),
        reservation_groups=groups_of_reservations,
        key_pairs=frozenset(key for key in keys if reader.key_pair_exists(key)),
        offered_zone_ids=offered,
        cluster=look_up_cluster(reader, config.name, with_aws_auth=needs_aws_auth(config)),
        file_systems=look_up_file_systems(reader, config),
        addon_offers=look_up_addon_offers(reader, config),
        unreadable=tuple(dict.fromkeys(reader.unreadable)),
    )


def _account_problems(config: StackConfig, facts: AccountFacts) -> Iterator[Problem]:
    if isinstance(config.network, ExistingVpc):
        yield from network_problems(config.network, facts)
    else:
        yield from zone_problems(config, facts)
    yield from reservation_problems(config, facts)
    yield from pool_problems(config, facts)
    yield from file_system_problems(config, facts)


def _without_repeats(problems: list[Problem]) -> list[Problem]:
    # The plan and the account may both see one fault; the account's words come first.
    seen: dict[tuple[str, str], Problem] = {}
    for problem in problems:
        seen.setdefault((problem.path, str(problem.problem)), problem)
    return list(seen.values())

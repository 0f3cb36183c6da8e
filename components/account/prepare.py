"""From a stack file to a plan that fits the account: everything that precedes a registration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from components.account.complete import complete
from components.account.facts import AccountFacts
from components.account.lookup import AccountReader
from components.account.network_check import network_problems
from components.account.pool_check import pool_problems, room_problems
from components.account.reservation_check import reservation_problems
from components.architectures.eks_plan import plan_eks
from components.config.network import ExistingVpc
from components.config.problems import ConfigError, Problem
from components.config.reservations import CapacityBlock, Odcr
from components.config.stack import StackConfig
from components.eks.plan import EksPlan


@dataclass(frozen=True, slots=True)
class Prepared:
    """A plan whose every assumption about the account was looked at."""

    plan: EksPlan
    warnings: tuple[str, ...]
    """What could not be looked at."""


def prepare(
    config: StackConfig, facts: AccountFacts, *, stack_file: str, region: str, now: datetime
) -> Prepared:
    """Return the plan of a stack in this account.

    Raises:
        ConfigError: every problem of the plan and of the account at once.
    """
    completed = complete(config, facts)
    problems = list(_account_problems(completed, facts))
    plan: EksPlan | None = None
    try:
        plan = plan_eks(
            completed, stack_file=stack_file, region=region, now=now, subnets_known=True
        )
        problems.extend(room_problems(plan, facts))
    except ConfigError as error:
        problems.extend(error.problems)
    if plan is None or problems:
        raise ConfigError(_without_repeats(problems), stack_file=stack_file)
    return Prepared(plan=plan, warnings=tuple(f"not checked: {u}" for u in facts.unreadable))


def look_up(config: StackConfig, *, region: str, profile: str | None = None) -> AccountFacts:
    """Read from AWS what the stack file depends on.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    reader = AccountReader(region=region, profile=profile)
    account_id = reader.account_id()
    reservations = {
        r.reservation_id: found
        for r in config.reservations.values()
        if isinstance(r, Odcr | CapacityBlock)
        and (found := reader.reservation(r.reservation_id)) is not None
    }
    network = config.network
    vpc, subnets = None, {}
    if isinstance(network, ExistingVpc):
        vpc = reader.vpc(network.vpc_id)
        subnets = reader.subnets((*network.public_subnet_ids, *network.private_subnet_ids))
    groups = config.architecture.node_groups.values()
    keys = {group.ssh_key_name for group in groups if group.ssh_key_name}
    types = {group.instance_type for group in groups}
    offered = {name: reader.offered_zone_ids(name) for name in sorted(types)}
    return AccountFacts(
        account_id=account_id,
        vpc=vpc,
        subnets=subnets,
        reservations=reservations,
        key_pairs=frozenset(key for key in keys if reader.key_pair_exists(key)),
        offered_zone_ids=offered,
        unreadable=tuple(dict.fromkeys(reader.unreadable)),
    )


def _account_problems(config: StackConfig, facts: AccountFacts) -> Iterator[Problem]:
    if isinstance(config.network, ExistingVpc):
        yield from network_problems(config.network, facts)
    yield from reservation_problems(config, facts)
    yield from pool_problems(config, facts)


def _without_repeats(problems: list[Problem]) -> list[Problem]:
    # The plan and the account may both see one fault; the account's words come first.
    seen: dict[tuple[str, str], Problem] = {}
    for problem in problems:
        seen.setdefault((problem.path, str(problem.problem)), problem)
    return list(seen.values())

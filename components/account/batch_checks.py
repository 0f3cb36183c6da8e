"""Account checks that are specific to AWS Batch stacks."""

from __future__ import annotations

from collections.abc import Iterator

from components.account.batch_egress_check import egress_problems
from components.account.batch_image_check import image_ids, image_problems
from components.account.check import Check
from components.account.default_group_check import (
    default_group_problems,
    look_up_default_group,
)
from components.account.facts import AccountFacts
from components.account.key_pair_check import missing_key_problems
from components.account.lookup import AccountReader
from components.account.pool_check import address_problems
from components.account.readings import Reading
from components.account.reservations import unseen_reservations
from components.batch.address_capacity import REMEDY, TAKERS, addresses_by_subnet
from components.batch.plan import BatchPlan
from components.config.batch_stack import BatchStackConfig
from components.config.network import ExistingVpc
from components.config.problems import ROOT, Problem


def batch_readings(reader: AccountReader, config: BatchStackConfig) -> Iterator[Reading]:
    """Yield the readings for a Batch stack."""
    for image_id in image_ids(config.architecture):
        yield lambda image_id=image_id: {"images": reader.images(image_id)}
    if isinstance(config.network, ExistingVpc) and _has_multi_node_jobs(config):
        vpc_id = config.network.vpc_id
        yield lambda: {"default_group": look_up_default_group(reader, vpc_id)}


def _has_multi_node_jobs(config: BatchStackConfig) -> bool:
    return any(each.nodes > 1 for each in config.architecture.job_definitions.values())


def batch_checks(config: BatchStackConfig, facts: AccountFacts) -> Iterator[Check]:
    """Yield the checks of a completed configuration."""
    yield Check("key pairs", _key_problems(config, facts))
    yield Check("images", image_problems(config.architecture, facts))


def batch_plan_checks(plan: BatchPlan, facts: AccountFacts) -> Iterator[Check]:
    """Yield the checks of a plan."""
    rooms = address_problems(
        addresses_by_subnet(plan), plan.network, facts, takers=TAKERS, remedy=REMEDY
    )
    yield Check("addresses", rooms)
    yield Check("images of jobs", egress_problems(plan, facts))
    yield Check("default security group", default_group_problems(plan, facts))


def _key_problems(config: BatchStackConfig, facts: AccountFacts) -> Iterator[Problem]:
    for name, environment in config.architecture.compute_environments.items():
        yield from missing_key_problems(
            f"{ROOT}.architecture.compute_environments.{name}.ssh_key_name",
            environment.ssh_key_name,
            facts,
            loss="no node would launch",
            remedy="remove ssh_key_name; Session Manager needs none",
        )


def batch_warnings(config: BatchStackConfig, facts: AccountFacts) -> Iterator[str]:
    """Yield warnings to show before any change."""
    for name in unseen_reservations(config, facts):
        yield (
            f"reservation {name} is not seen yet: the stack accepts its resource share first, and "
            "the next command checks it"
        )

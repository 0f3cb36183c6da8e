"""What an AWS Batch stack is checked for in an account, beside what every architecture is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from components.account.batch_egress_check import egress_problems
from components.account.batch_image_check import image_ids, image_problems
from components.account.default_group_check import (
    default_group_problems,
    look_up_default_group,
)
from components.account.facts import AccountFacts
from components.account.key_pair_check import missing_key_problems
from components.account.lookup import AccountReader
from components.account.pool_check import room_problems
from components.account.reservations import unseen_reservations
from components.batch.plan import BatchPlan
from components.batch.room_plan import REMEDY, TAKERS, addresses_by_subnet
from components.config.network import ExistingVpc
from components.config.problems import ROOT, Problem
from components.config.stack import BatchStackConfig


def look_up_batch(
    reader: AccountReader, config: BatchStackConfig, facts: AccountFacts
) -> AccountFacts:
    """Return the facts with what only a Batch stack depends on.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    images = {image_id: reader.image(image_id) for image_id in image_ids(config.architecture)}
    found = {image_id: image for image_id, image in images.items() if image is not None}
    group = None
    if isinstance(config.network, ExistingVpc) and _has_multi_node_jobs(config):
        group = look_up_default_group(reader, config.network.vpc_id)
    return replace(facts, images=found, default_group=group)


def _has_multi_node_jobs(config: BatchStackConfig) -> bool:
    return any(each.nodes > 1 for each in config.architecture.job_definitions.values())


def batch_problems(config: BatchStackConfig, facts: AccountFacts) -> Iterator[Problem]:
    """Yield what is wrong with a completed configuration in this account."""
    for name, environment in config.architecture.compute_environments.items():
        yield from missing_key_problems(
            f"{ROOT}.architecture.compute_environments.{name}.ssh_key_name",
            environment.ssh_key_name,
            facts,
            loss="no node would launch",
            remedy="remove ssh_key_name; Session Manager needs none",
        )
    yield from image_problems(config.architecture, facts)


def batch_plan_problems(plan: BatchPlan, facts: AccountFacts) -> Iterator[Problem]:
    """Yield what is wrong with a plan in this account."""
    yield from room_problems(
        addresses_by_subnet(plan), plan.network, facts, takers=TAKERS, remedy=REMEDY
    )
    yield from egress_problems(plan, facts)
    yield from default_group_problems(plan, facts)


def batch_warnings(config: BatchStackConfig, facts: AccountFacts) -> Iterator[str]:
    """Yield what the user should know before it is done."""
    for name in unseen_reservations(config, facts):
        yield (
            f"reservation {name} is not seen yet: the stack accepts its resource share first, and "
            "the next command checks it"
        )

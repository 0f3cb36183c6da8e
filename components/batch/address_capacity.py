"""Checks that subnets have enough addresses for the nodes of a Batch stack.

Source: https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html: each container of a
multi-node parallel job has its own interface in addition to those of the instance.
"""

from __future__ import annotations

from trainyard.components.batch.compute_environment_plan import ComputeEnvironmentPlan
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.config.problems import Review
from trainyard.components.network.address_capacity import AddressNeed, needs_of, review_new_subnets

TAKERS = "interfaces"
REMEDY = "fewer nodes, or interface_layout: efa-only, which uses one address per node"
"""For messages: what uses the addresses, and alternatives to a larger subnet."""


def addresses_by_subnet(plan: BatchPlan) -> dict[str, AddressNeed]:
    """Return the addresses needed in each subnet that is the only subnet of an environment.

    An environment with several subnets can use any of them and is not counted.
    """
    return needs_of(
        (environment.subnets[0], _addresses(environment, plan), environment.name)
        for environment in plan.compute_environments
        if len(environment.subnets) == 1
    )


def review_address_capacity(plan: BatchPlan, review: Review) -> None:
    """Refuse new subnets that are too small for the nodes that launch there."""
    review_new_subnets(
        addresses_by_subnet(plan), plan.network, review, takers=TAKERS, remedy=REMEDY
    )


def _addresses(environment: ComputeEnvironmentPlan, plan: BatchPlan) -> int:
    interfaces = environment.interfaces
    of_node = interfaces.addresses_per_node if interfaces is not None else 1
    of_job = any(
        definition.nodes > 1
        for definition in plan.job_definitions
        if definition.compute_environment == environment.name
    )
    nodes = environment.maximum_vcpus // environment.instance_type.vcpus
    return nodes * (of_node + of_job)

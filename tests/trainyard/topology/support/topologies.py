"""Topologies of the stack files, as their files and the sandbox's account describe them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.support.stacks import NOW, account_facts, stack_config
from trainyard.components.architectures.plan_stack import plan_stack
from trainyard.components.architectures.prepare import examine
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.config.load import load_stack_config
from trainyard.components.eks.plan import EksPlan
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.components.parallelcluster.queue_plan import QueuePlan
from trainyard.topology.box import Box
from trainyard.topology.topology import topology


def topology_of(stack: str, *, pools: int | None = None, live: bool = False) -> Box:
    """Return the topology of a stack file.

    Args:
        stack: Name of the stack.
        pools: Number of its node groups, queues or compute environments, all like the last one.
        live: Whether the sandbox's account was read.
    """
    config = stack_config(stack)
    name, region = f"Pulumi.{stack}.yaml", config["aws:region"]
    loaded = load_stack_config(config["trainyard:cluster"], stack_file=name)
    facts = account_facts()
    if live:
        found = examine(loaded, facts, stack_file=name, region=region, now=NOW)
        loaded, plan = found.config, found.plan
        assert plan is not None
    else:
        plan = plan_stack(loaded, stack_file=name, region=region, now=NOW)
    return topology(
        loaded, _with_pools(plan, pools) if pools else plan, subnets=facts.subnets if live else {}
    )


def _with_pools(plan: Any, number: int) -> Any:
    if isinstance(plan, EksPlan):
        system, *_, last = plan.node_groups
        return replace(plan, node_groups=(system, *_named(last, number)))
    if isinstance(plan, ParallelClusterPlan):
        queues = _named(plan.queues[-1], number)
        return replace(plan, queues=tuple(map(_with_its_name, queues)))
    if isinstance(plan, BatchPlan):
        return replace(plan, compute_environments=_named(plan.compute_environments[-1], number))
    return plan


def _named(pool: Any, number: int) -> tuple[Any, ...]:
    return tuple(replace(pool, name=f"{pool.name}-{index}") for index in range(number))


def _with_its_name(queue: QueuePlan) -> QueuePlan:
    resources = (replace(each, queue=queue.name) for each in queue.compute_resources)
    return replace(queue, compute_resources=tuple(resources))

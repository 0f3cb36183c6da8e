"""The job for the nodes of a stack file, from its plan."""

from __future__ import annotations

from collections.abc import Iterable

from tests.support.stacks import prepared
from trainyard.components.compute.node_pool_plan import NodePoolPlan

_JOBS = {"nvidia": "nccl-tests", "neuron": "nccom-tests"}


def pools_with_efa(stacks: Iterable[str]) -> dict[str, NodePoolPlan]:
    """Return the first node pool with EFA of each stack that has one."""
    found: dict[str, NodePoolPlan] = {}
    for stack in stacks:
        for pool in reversed(prepared(stack).plan.node_pools):
            if pool.interfaces:
                found[stack] = pool
    return found


def job_of(pool: NodePoolPlan) -> str:
    """Return the job that tests the accelerators of a node pool."""
    assert pool.instance_type.accelerators is not None
    return _JOBS[pool.instance_type.accelerators.manufacturer]

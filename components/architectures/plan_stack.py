"""Plan a stack of any architecture.

Only the planner of the stack's architecture is imported, so that `check` takes a fraction of a
second.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from components.config.stack_models import is_eks, is_network, is_parallelcluster

if TYPE_CHECKING:
    from components.batch.plan import BatchPlan
    from components.config.stack_models import AnyStackConfig
    from components.eks.plan import EksPlan
    from components.network.network_stack_plan import NetworkStackPlan
    from components.parallelcluster.plan import ParallelClusterPlan

    AnyPlan = EksPlan | ParallelClusterPlan | BatchPlan | NetworkStackPlan
    """The plan of a stack of any architecture."""


def plan_stack(
    config: AnyStackConfig,
    *,
    stack_file: str,
    region: str,
    now: datetime,
    subnets_known: bool = False,
    offered_zones: Mapping[str, tuple[str, ...]] | None = None,
) -> AnyPlan:
    """Return the plan of a stack.

    Args:
        config: The stack file.
        stack_file: Name of the stack file, for messages.
        region: Region of the stack.
        now: Current time, timezone-aware.
        subnets_known: Whether the account was queried and the subnets of nodes are filled in.
        offered_zones: Zones of a new VPC that offer an instance type, by type, if the account was
            queried.

    Raises:
        ConfigError: every problem that the configuration has.
    """
    if is_network(config):
        from components.architectures.network_stack_plan import plan_network_stack

        return plan_network_stack(config, stack_file=stack_file, region=region)
    if is_eks(config):
        from components.architectures.eks_plan import plan_eks

        plan = partial(plan_eks, config)
    elif is_parallelcluster(config):
        from components.architectures.parallelcluster_plan import plan_parallelcluster

        plan = partial(plan_parallelcluster, config)
    else:
        from components.architectures.batch_plan import plan_batch

        plan = partial(plan_batch, config)
    return plan(
        stack_file=stack_file,
        region=region,
        now=now,
        subnets_known=subnets_known,
        offered_zones=offered_zones,
    )

"""What a ParallelCluster stack needs of quotas, besides those of network, storage and pools."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.checks.quota_needs import Need
from trainyard.components.parallelcluster.plan import ParallelClusterPlan

PARALLELCLUSTER_QUOTAS = (
    "launch-templates",
    "placement-groups",
    "security-groups",
    "gp3-storage",
    "iam-roles",
    "iam-instance-profiles",
)
"""Quotas that a ParallelCluster stack counts towards."""


def parallelcluster_needs(plan: ParallelClusterPlan) -> Iterator[Need]:
    """Yield the needs of head node and queues.

    ParallelCluster makes a security group and a role for the head node and for compute nodes, the
    latter for each queue: `templates/cluster_stack.py` and `templates/queues_stack.py` of
    https://github.com/aws/aws-parallelcluster/tree/v3.16.1/cli/src/pcluster
    """
    yield Need(quota="security-groups", key="architecture", amount=2)
    yield Need(quota="iam-roles", key="architecture", amount=1 + len(plan.queues))
    yield Need(quota="iam-instance-profiles", key="architecture", amount=1 + len(plan.queues))
    volumes = plan.head_node.root_volume.size_gib
    for queue in plan.queues:
        nodes = sum(each.nodes for each in queue.compute_resources)
        volumes += nodes * queue.config.root_volume.size_gib
    yield Need(quota="gp3-storage", key="architecture", amount=volumes / 1024)

"""What an EKS stack needs of quotas, besides those of network, storage and pools."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.checks.quota_needs import Need
from trainyard.components.eks.plan import EksPlan

EKS_QUOTAS = (
    "eks-clusters",
    "managed-node-groups",
    "nodes-per-managed-node-group",
    "auto-scaling-groups",
    "launch-templates",
    "placement-groups",
    "security-groups",
    "gp3-storage",
    "iam-roles",
    "iam-instance-profiles",
)
"""Quotas that an EKS stack counts towards."""


def eks_needs(plan: EksPlan) -> Iterator[Need]:
    """Yield the needs of the cluster and its node groups.

    EKS makes a security group for each cluster, an instance profile and an Auto Scaling group for
    each managed node group:
    https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html
    """
    groups, key = plan.node_groups, "architecture.node_groups"
    managed = [group for group in groups if group.management == "managed"]
    with_efa = any(group.interfaces for group in groups)
    yield Need(quota="eks-clusters", key="architecture", amount=1)
    yield Need(quota="security-groups", key="architecture", amount=1 + with_efa)
    yield Need(quota="managed-node-groups", key=key, amount=len(managed))
    largest = max(managed, key=lambda group: group.nodes)
    yield Need(quota="nodes-per-managed-node-group", key=largest.key, amount=largest.nodes)
    yield Need(quota="auto-scaling-groups", key=key, amount=len(groups))
    yield Need(quota="iam-roles", key="architecture", amount=1 + len(groups))
    yield Need(quota="iam-instance-profiles", key=key, amount=len(groups))

"""Node affinity and tolerations of self-managed add-ons."""

from __future__ import annotations

from collections.abc import Sequence, Set

from trainyard.components.config.eks import Taint
from trainyard.components.eks.label_plan import EFA_LABEL
from trainyard.components.runtime.workload_plan import Manifest

INSTANCE_TYPE_LABEL = "node.kubernetes.io/instance-type"
"""The cloud provider sets it on every node.
https://kubernetes.io/docs/reference/labels-annotations-taints/#nodekubernetesioinstance-type"""
COMPUTE_TYPE_LABEL = "eks.amazonaws.com/compute-type"
"""`auto` on nodes of EKS Auto Mode, which has its own device plugins."""

NODE_GROUP_LABEL = "eks.amazonaws.com/nodegroup"
"""EKS sets it on nodes of managed node groups only.
https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html"""

NVIDIA_GPU = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
CRITICAL_ADDONS_ONLY = {"key": "CriticalAddonsOnly", "operator": "Exists"}


def tolerations(always: Sequence[Manifest], taints: Sequence[Taint]) -> list[Manifest]:
    """Return the plugin's own tolerations, then one for each distinct taint, in order."""
    return [
        *always,
        *(
            {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
            for taint in dict.fromkeys(taints)
        ),
    ]


def instance_type_affinity(
    instance_types: Sequence[str], others: Set[str] = frozenset()
) -> Manifest:
    """Return the affinity to nodes of these EC2 instance types, except Auto Mode nodes.

    If other node groups, of the types `others`, have one of them too, their label keeps pods off.
    """
    without_efa = {"key": EFA_LABEL, "operator": "NotIn", "values": ["false"]}
    return _affinity(
        _of_types(instance_types),
        {"key": COMPUTE_TYPE_LABEL, "operator": "NotIn", "values": ["auto"]},
        *([without_efa] if others & set(instance_types) else []),
    )


def self_managed_affinity(instance_types: Sequence[str]) -> Manifest:
    """Return the affinity to self-managed nodes of these EC2 instance types."""
    return _affinity(
        _of_types(instance_types),
        {"key": NODE_GROUP_LABEL, "operator": "DoesNotExist"},
        {"key": COMPUTE_TYPE_LABEL, "operator": "NotIn", "values": ["fargate", "auto"]},
    )


def away_from(instance_types: Sequence[str]) -> Manifest:
    """Return the affinity to nodes of other EC2 instance types."""
    return _affinity({**_of_types(instance_types), "operator": "NotIn"})


def _of_types(instance_types: Sequence[str]) -> Manifest:
    return {"key": INSTANCE_TYPE_LABEL, "operator": "In", "values": sorted(set(instance_types))}


def _affinity(*expressions: Manifest) -> Manifest:
    terms = {"nodeSelectorTerms": [{"matchExpressions": [*expressions]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}

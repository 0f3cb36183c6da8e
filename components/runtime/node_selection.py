"""Node affinity and tolerations of device plugins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pulumi_kubernetes.core import v1 as core

INSTANCE_TYPE_LABEL = "node.kubernetes.io/instance-type"
"""The cloud provider sets it on every node.
https://kubernetes.io/docs/reference/labels-annotations-taints/#nodekubernetesioinstance-type"""
COMPUTE_TYPE_LABEL = "eks.amazonaws.com/compute-type"
"""`auto` on nodes of EKS Auto Mode, which has its own device plugins."""

NODE_GROUP_LABEL = "eks.amazonaws.com/nodegroup"
"""EKS sets it on nodes of managed node groups only.
https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToleratedTaint:
    """A taint of a node group; plugins must tolerate it to run there."""

    key: str
    value: str
    effect: str
    """Kubernetes value: `NoSchedule`, `PreferNoSchedule` or `NoExecute`."""


NVIDIA_GPU = core.TolerationArgs(key="nvidia.com/gpu", operator="Exists", effect="NoSchedule")
CRITICAL_ADDONS_ONLY = core.TolerationArgs(key="CriticalAddonsOnly", operator="Exists")


def tolerations(
    always: Sequence[core.TolerationArgs], taints: Sequence[ToleratedTaint]
) -> list[core.TolerationArgs]:
    """Return the plugin's own tolerations, then one for each distinct taint, in order."""
    return [
        *always,
        *(
            core.TolerationArgs(
                key=taint.key, operator="Equal", value=taint.value, effect=taint.effect
            )
            for taint in dict.fromkeys(taints)
        ),
    ]


def instance_type_affinity(instance_types: Sequence[str]) -> core.AffinityArgs:
    """Return the affinity to nodes of these EC2 instance types, except Auto Mode nodes."""
    return _affinity(
        _of_types(instance_types),
        core.NodeSelectorRequirementArgs(key=COMPUTE_TYPE_LABEL, operator="NotIn", values=["auto"]),
    )


def self_managed_affinity(instance_types: Sequence[str]) -> core.AffinityArgs:
    """Return the affinity to self-managed nodes of these EC2 instance types."""
    return _affinity(
        _of_types(instance_types),
        core.NodeSelectorRequirementArgs(key=NODE_GROUP_LABEL, operator="DoesNotExist"),
        core.NodeSelectorRequirementArgs(
            key=COMPUTE_TYPE_LABEL, operator="NotIn", values=["fargate", "auto"]
        ),
    )


def _of_types(instance_types: Sequence[str]) -> core.NodeSelectorRequirementArgs:
    return core.NodeSelectorRequirementArgs(
        key=INSTANCE_TYPE_LABEL, operator="In", values=sorted(set(instance_types))
    )


def _affinity(*expressions: core.NodeSelectorRequirementArgs) -> core.AffinityArgs:
    return core.AffinityArgs(
        node_affinity=core.NodeAffinityArgs(
            required_during_scheduling_ignored_during_execution=core.NodeSelectorArgs(
                node_selector_terms=[core.NodeSelectorTermArgs(match_expressions=list(expressions))]
            )
        )
    )

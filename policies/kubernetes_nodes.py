"""Nodes of a Kubernetes cluster with EFA, as the resources of a stack show them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pulumi_policy import PolicyResource

from policies.launch import Launch
from policies.node_pools import pools
from policies.props import UNKNOWN
from policies.resource_types import AUTO_SCALING_GROUP, EKS_CLUSTER, EKS_NODE_GROUP
from policies.stack import Stack

_OWNED = "kubernetes.io/cluster/"
"""Begin of the tag that every self-managed node of EKS must have.
https://docs.aws.amazon.com/eks/latest/userguide/worker.html"""

_EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute"}
"""How EKS and Kubernetes spell the effects that keep a pod off a node.
https://docs.aws.amazon.com/eks/latest/userguide/node-taints-managed-node-groups.html"""


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint that keeps pods away which do not tolerate it."""

    key: str
    value: str
    effect: str
    """`NoSchedule` or `NoExecute`."""

    def __str__(self) -> str:
        return (
            f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"
        )


@dataclass(frozen=True, slots=True)
class EfaNodes:
    """A group of Kubernetes nodes with EFA interfaces."""

    resource: PolicyResource
    template: PolicyResource
    launch: Launch
    instance_types: tuple[str, ...]
    """Those that are known."""
    taints: tuple[Taint, ...]
    """Of a managed node group; those of another stand in its user data, which is not read."""


def efa_nodes(stack: Stack) -> list[EfaNodes]:
    """Return the groups with EFA of the only cluster of a stack.

    Of a stack with several clusters nothing is told: a resource inside a cluster does not show
    which one it is in.
    """
    if len(list(stack.of_type(EKS_CLUSTER))) > 1:
        return []
    return list(_efa_nodes(stack))


def _efa_nodes(stack: Stack) -> Iterator[EfaNodes]:
    for pool in pools(stack):
        found = pool.efa_template()
        if found is None or not of_kubernetes(stack, pool.resource):
            continue
        template, launch = found
        types = (each for each in pool.launched_types(launch) if isinstance(each, str))
        yield EfaNodes(
            pool.resource, template, launch, tuple(types), tuple(taints_of(stack, pool.resource))
        )


def of_kubernetes(stack: Stack, group: PolicyResource) -> bool:
    """Whether the nodes of a group join a cluster: a managed group, or one tagged as its own."""
    if group.resource_type == EKS_NODE_GROUP:
        return True
    facts = stack.facts_of(group.urn)
    keys = (facts.get("tags", i, "key") for i in range(facts.count("tags")))
    return group.resource_type == AUTO_SCALING_GROUP and any(_owned(key) for key in keys)


def _owned(key: Any) -> bool:
    return isinstance(key, str) and key.startswith(_OWNED)


def taints_of(stack: Stack, group: PolicyResource) -> Iterator[Taint]:
    """Yield the known taints of a managed node group that keep pods away."""
    if group.resource_type != EKS_NODE_GROUP:
        return
    facts = stack.facts_of(group.urn)
    for index in range(facts.count("taints")):
        key, value, effect = (facts.get("taints", index, k) for k in ("key", "value", "effect"))
        if effect in _EFFECTS and key not in (None, UNKNOWN) and value is not UNKNOWN:
            yield Taint(str(key), str(value or ""), _EFFECTS[effect])

"""Kubernetes: groups of nodes with EFA, and the device plugins that a stack installs.

A plugin is a DaemonSet of the program or a Helm release. A chart that the program renders (`Chart`)
registers a DaemonSet.

Source:
    https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html
    https://github.com/aws/eks-charts, `stable/aws-efa-k8s-device-plugin` and `stable/aws-dranet`
    https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
    https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pulumi_policy import PolicyResource

from trainyard.components.catalog.efa import chart_version_with
from trainyard.policies.resources.launches import Launch
from trainyard.policies.resources.pools import pools
from trainyard.policies.resources.props import UNKNOWN, Facts, is_set
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import (
    AUTO_SCALING_GROUP,
    DAEMON_SET,
    EKS_CLUSTER,
    EKS_NODE_GROUP,
    HELM_RELEASE,
)

_OWNED = "kubernetes.io/cluster/"
"""Prefix of the tag that every self-managed EKS node must have.

https://docs.aws.amazon.com/eks/latest/userguide/worker.html"""

_EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute"}
"""Names of the effects that keep a pod off a node, in EKS and in Kubernetes.

https://docs.aws.amazon.com/eks/latest/userguide/node-taints-managed-node-groups.html"""


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint that keeps pods without a toleration off a node."""

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
    launch: Launch
    instance_types: tuple[str, ...]
    """The types that are known."""
    taints: tuple[Taint, ...]
    """Taints of a managed node group; the user data of other groups is not read."""


def efa_nodes(stack: Stack) -> list[EfaNodes]:
    """Return the groups with EFA if the stack has one cluster, otherwise nothing.

    A Kubernetes resource does not show which of several clusters it is in.
    """
    if len(list(stack.of_type(EKS_CLUSTER))) > 1:
        return []
    return list(_efa_nodes(stack))


def _efa_nodes(stack: Stack) -> Iterator[EfaNodes]:
    for pool in pools(stack):
        found = pool.efa_template()
        if found is None or not of_kubernetes(stack, pool.resource):
            continue
        _, launch = found
        types = (each for each in pool.launched_types(launch) if isinstance(each, str))
        taints = taints_of(stack, pool.resource)
        yield EfaNodes(pool.resource, launch, tuple(types), tuple(taints))


def of_kubernetes(stack: Stack, group: PolicyResource) -> bool:
    """Whether the nodes of a group join a cluster: a managed group, or a group with its tag."""
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


PLUGIN = "aws-efa-k8s-device-plugin"
DRIVER = "dranet"

_INSTANCE_TYPE_LABELS = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_POD = ("spec", "template", "spec")
_TERMS = (
    *_POD,
    "affinity",
    "nodeAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms",
)
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class EfaPlugin:
    """One installed plugin or driver."""

    resource: PolicyResource
    facts: Facts

    def runs_on(self, instance_type: str) -> bool:
        """Whether its pods can run on an instance type; True if that is unknown."""
        if self.resource.resource_type == HELM_RELEASE:
            return self._chart_lists(instance_type)
        for label in _INSTANCE_TYPE_LABELS:
            wanted = self.facts.needed(*_POD, "nodeSelector", label)
            if wanted not in (None, UNKNOWN, instance_type):
                return False
        count = self.facts.count(*_TERMS)
        return not count or any(self._admits(i, instance_type) for i in range(count))

    def tolerates(self, taint: Taint) -> bool:
        """Whether its pods tolerate a taint; True if that is unknown."""
        path: Path = (*_POD, "tolerations")
        if self.resource.resource_type == HELM_RELEASE:
            path = ("values", "tolerations")  # added to that of the chart for CriticalAddonsOnly
            if taint.key == "CriticalAddonsOnly" or self._has_value_files():
                return True
        if self.facts.needed(*path) is UNKNOWN:
            return True
        return any(self._matches((*path, i), taint) for i in range(self.facts.count(*path)))

    def _chart_lists(self, instance_type: str) -> bool:
        path = ("values", "supportedInstanceLabels", "values")
        listed = self.facts.needed(*path)
        if listed is UNKNOWN or self._has_value_files():
            return True
        if listed is not None:
            return instance_type in [
                self.facts.get(*path, i) for i in range(self.facts.count(*path))
            ]
        version, first = self.facts.needed("version"), chart_version_with(instance_type)
        if not isinstance(version, str) or first is None:
            return True
        numbers = _numbers(version)
        return numbers is None or numbers >= first

    def _has_value_files(self) -> bool:
        return is_set(self.facts.get("valueYamlFiles"))

    def _admits(self, index: int, instance_type: str) -> bool:
        """Whether one term of the affinity admits a type; other labels are taken as matching."""
        path = (*_TERMS, index, "matchExpressions")
        for i in range(self.facts.count(*path)):
            key, operator = (self.facts.get(*path, i, k) for k in ("key", "operator"))
            values = (*path, i, "values")
            if key not in _INSTANCE_TYPE_LABELS or self.facts.needed(*values) is UNKNOWN:
                continue
            found = {self.facts.get(*values, j) for j in range(self.facts.count(*values))}
            listed = instance_type in found
            if (operator == "NotIn" and listed) or (
                operator == "In" and not listed and UNKNOWN not in found
            ):
                return False
        return True

    def _matches(self, path: Path, taint: Taint) -> bool:
        key, operator, value, effect = (
            self.facts.get(*path, each) for each in ("key", "operator", "value", "effect")
        )
        if UNKNOWN in (key, operator, value, effect):
            return True
        if effect not in (None, "", taint.effect):
            return False
        if operator == "Exists":
            return key in (None, "", taint.key)
        return key == taint.key and (value or "") == taint.value


def plugins(stack: Stack, kind: str) -> list[EfaPlugin]:
    """Return the installations of a plugin, such as `PLUGIN` or `DRIVER`, in the stack."""
    return [
        EfaPlugin(resource, stack.facts_of(resource.urn))
        for resource in stack.of_type(DAEMON_SET, HELM_RELEASE)
        if any(kind in name for name in _names(resource, stack.facts_of(resource.urn)))
    ]


def _names(resource: PolicyResource, facts: Facts) -> Iterator[str]:
    """Yield the chart of a release, or the images of a DaemonSet without their registry."""
    if resource.resource_type == HELM_RELEASE:
        chart = facts.get("chart")
        yield from [chart.rstrip("/").rpartition("/")[2]] if isinstance(chart, str) else []
        return
    containers = (*_POD, "containers")
    for index in range(facts.count(*containers)):
        image = facts.get(*containers, index, "image")
        yield from [image.rpartition("/")[2]] if isinstance(image, str) else []


def _numbers(version: str) -> tuple[int, ...] | None:
    parts = version.lstrip("v").split(".")
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else None

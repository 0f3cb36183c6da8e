"""The EFA device plugin and the EFA driver for dynamic resource allocation, however installed.

As a DaemonSet of the program's own, or as a Helm release of the charts of AWS. A chart that is
rendered by the program (`Chart`) registers a DaemonSet.

Sources:
    https://github.com/aws/eks-charts, `stable/aws-efa-k8s-device-plugin` and `stable/aws-dranet`
    https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
    https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pulumi_policy import PolicyResource

from components.catalog.efa_device_plugin import chart_version_with
from policies.kubernetes_nodes import Taint
from policies.props import UNKNOWN, Facts, is_set
from policies.resource_types import DAEMON_SET, HELM_RELEASE
from policies.stack import Stack

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
        """Whether its pods may be scheduled on an instance type; yes where that is not known."""
        if self.resource.resource_type == HELM_RELEASE:
            return self._chart_lists(instance_type)
        for label in _INSTANCE_TYPE_LABELS:
            wanted = self.facts.needed(*_POD, "nodeSelector", label)
            if wanted not in (None, UNKNOWN, instance_type):
                return False
        count = self.facts.count(*_TERMS)
        return not count or any(self._admits(i, instance_type) for i in range(count))

    def tolerates(self, taint: Taint) -> bool:
        """Whether its pods tolerate a taint; yes where that is not known."""
        path: Path = (*_POD, "tolerations")
        if self.resource.resource_type == HELM_RELEASE:
            path = ("values", "tolerations")  # beside the chart's own, for CriticalAddonsOnly
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
        """Whether one term of the affinity admits a type; what asks of other labels is granted."""
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
    """Return what the stack installs of `PLUGIN` or `DRIVER`."""
    return [
        EfaPlugin(resource, stack.facts_of(resource.urn))
        for resource in stack.of_type(DAEMON_SET, HELM_RELEASE)
        if any(kind in name for name in _names(resource, stack.facts_of(resource.urn)))
    ]


def _names(resource: PolicyResource, facts: Facts) -> Iterator[str]:
    """Yield the chart of a release, or the images of a DaemonSet without registry and version."""
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

"""Arguments and DaemonSet that all device plugins share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes.apps import v1 as apps
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.meta import v1 as meta

from components.runtime.node_selection import ToleratedTaint


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePluginArgs:
    """Arguments of a device plugin component."""

    provider: kubernetes.Provider
    image: str
    """With version; from the registry of the stack's region if registries are regional."""
    instance_types: Sequence[str]
    """EC2 instance types of the node groups that have the device."""
    taints: Sequence[ToleratedTaint]
    """Taints of the node groups with devices."""
    install_after: Sequence[pulumi.Resource]
    """Node groups whose nodes are expected now. Without nodes, a DaemonSet counts as rolled out
    immediately, so a Capacity Block that has not started does not block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginDaemonSet:
    """A DaemonSet in `kube-system` whose pods have one label."""

    name: str
    selector: Mapping[str, str]
    """Label of the pods; immutable."""
    labels: Mapping[str, str] | None = None
    """Labels of the DaemonSet itself."""

    def register(
        self, name: str, pod: core.PodSpecArgs, args: DevicePluginArgs, parent: pulumi.Resource
    ) -> apps.DaemonSet:
        """Register the DaemonSet with a logical name and a pod spec."""
        return apps.DaemonSet(
            name,
            metadata=meta.ObjectMetaArgs(
                name=self.name, namespace="kube-system", labels=self.labels
            ),
            spec=apps.DaemonSetSpecArgs(
                selector=meta.LabelSelectorArgs(match_labels=self.selector),
                update_strategy=apps.DaemonSetUpdateStrategyArgs(type="RollingUpdate"),
                template=core.PodTemplateSpecArgs(
                    metadata=meta.ObjectMetaArgs(labels=self.selector), spec=pod
                ),
            ),
            opts=pulumi.ResourceOptions(
                parent=parent, provider=args.provider, depends_on=[*args.install_after]
            ),
        )

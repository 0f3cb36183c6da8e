"""What the device plugins share: their arguments, and the DaemonSet around their pod."""

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
    """Arguments of a device plugin's component."""

    provider: kubernetes.Provider
    image: str
    """With its version; where the registry is a region's own, that region's."""
    instance_types: Sequence[str]
    """EC2 instance types of the node groups that have the device."""
    taints: Sequence[ToleratedTaint]
    """Taints of the node groups with devices."""
    install_after: Sequence[pulumi.Resource]
    """Node groups whose nodes are expected now. Without nodes a DaemonSet counts as rolled out
    at once, so one for a Capacity Block that has not begun holds nothing up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginDaemonSet:
    """A DaemonSet in `kube-system` whose pods carry one label."""

    name: str
    selector: Mapping[str, str]
    """Label of the pods; it can never change."""
    labels: Mapping[str, str] | None = None
    """Labels of the DaemonSet itself."""

    def register(
        self, name: str, pod: core.PodSpecArgs, args: DevicePluginArgs, parent: pulumi.Resource
    ) -> apps.DaemonSet:
        """Register it, under a logical name, for the pod that it runs on each node."""
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

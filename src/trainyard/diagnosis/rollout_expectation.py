"""What a cluster must have according to its stack outputs: nodes, devices and plugins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.eks.addons.eks_managed import EKS_ADDONS, NODE_MONITORING_AGENT
from trainyard.components.eks.addons.registry import SELF_MANAGED_ADDONS

DEVICES = {
    device: addon.daemon_set for addon in SELF_MANAGED_ADDONS.values() for device in addon.devices
}
"""DaemonSet of the device plugin, by the resource that it advertises."""
ADDON_DAEMON_SETS = {addon.name: addon.daemon_set for addon in EKS_ADDONS}
"""DaemonSet that runs on every node, by EKS add-on."""
DRAINERS = [addon.daemon_set for addon in SELF_MANAGED_ADDONS.values() if addon.drains]
"""DaemonSets that run on every node that they drain."""
GPU_MONITOR = "dcgm-server"
"""DaemonSet of the node monitoring agent on x86 nodes with NVIDIA GPUs."""


class LabelledNode(Protocol):
    """Information in the labels of a node."""

    @property
    def node_group(self) -> str | None:
        """Managed node group of the node."""
        ...

    @property
    def instance_type(self) -> str:
        """EC2 instance type of the node."""
        ...


@dataclass(frozen=True, slots=True)
class GroupExpectation:
    """What a node group must have."""

    name: str
    """Name of the node group, or of self-managed groups whose nodes cannot be distinguished."""
    instance_type: str
    managed_as: str | None
    """Name of the managed node group in the label of its nodes."""
    nodes: int
    devices: Mapping[str, int]
    """Devices on each node, by resource name."""
    daemon_sets: tuple[str, ...]
    """DaemonSets that run on each of its nodes."""

    def has(self, node: LabelledNode) -> bool:
        """Return whether a node belongs to this group, according to its labels."""
        return node.node_group == self.managed_as and node.instance_type == self.instance_type


def expected_of(outputs: Mapping[str, Any]) -> tuple[GroupExpectation, ...]:
    """Return the node groups that the outputs of a stack describe, in order."""
    found: dict[str | tuple[str, str], GroupExpectation] = {}
    for name, group in outputs.get("node_groups", {}).items():
        expected = _group(name, group, outputs)
        # Nodes of two self-managed groups with the same instance type look the same.
        key = expected.managed_as or ("self-managed", expected.instance_type)
        found[key] = _together(found[key], expected) if key in found else expected
    return tuple(found.values())


def _group(name: str, group: Mapping[str, Any], outputs: Mapping[str, Any]) -> GroupExpectation:
    devices = {key: int(count) for key, count in group.get("devices", {}).items()}
    addons = outputs.get("addons", {})
    accelerators = INSTANCE_TYPES[group["instance_type"]].accelerators
    plugins = [DEVICES[device] for device in devices]
    drains = name in outputs.get("drained_node_groups", [])
    watched = (
        NODE_MONITORING_AGENT in addons
        and accelerators is not None
        and accelerators.manufacturer == "nvidia"
        and INSTANCE_TYPES[group["instance_type"]].architecture == "x86_64"
    )
    wanted = [
        *plugins,
        *(DRAINERS if drains else []),
        *(ADDON_DAEMON_SETS[addon] for addon in addons if addon in ADDON_DAEMON_SETS),
        *([GPU_MONITOR] if watched else []),
    ]
    return GroupExpectation(
        name=name,
        instance_type=group["instance_type"],
        managed_as=group.get("node_group"),
        nodes=int(group["desired"]),
        devices=devices,
        daemon_sets=tuple(dict.fromkeys(wanted)),
    )


def _together(first: GroupExpectation, second: GroupExpectation) -> GroupExpectation:
    """Return what is certain for a node of either group, and the nodes of both."""
    return GroupExpectation(
        name=f"{first.name}, {second.name}",
        instance_type=first.instance_type,
        managed_as=None,
        nodes=first.nodes + second.nodes,
        devices={
            device: min(count, second.devices[device])
            for device, count in first.devices.items()
            if device in second.devices
        },
        daemon_sets=tuple(name for name in first.daemon_sets if name in second.daemon_sets),
    )

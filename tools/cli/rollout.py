"""Wait until a cluster is what its stack promised: nodes Ready, device plugins running.

"Rolled out" is not enough: a DaemonSet that wants no pod counts as rolled out. So a plugin must
want a pod as soon as a node with its device is expected.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from components.catalog.instance_types import INSTANCE_TYPES

INSTANCE_TYPE_LABEL = "node.kubernetes.io/instance-type"
DEVICES = ("nvidia.com/gpu", "vpc.amazonaws.com/efa")
DAEMON_SETS = {
    "nvidia": "nvidia-device-plugin-daemonset",
    "efa": "aws-efa-k8s-device-plugin",
}
"""DaemonSet in kube-system, by device plugin as the stack's outputs name it."""
NAMESPACE = "kube-system"
POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class NodeState:
    """One node."""

    name: str
    instance_type: str
    ready: bool
    devices: Mapping[str, str]
    """Allocatable accelerators and EFA interfaces, by resource name."""


@dataclass(frozen=True, slots=True)
class DaemonSetState:
    """One DaemonSet."""

    name: str
    desired: int
    ready: int


@dataclass(frozen=True, slots=True)
class Expected:
    """What must be there."""

    nodes: Mapping[str, int]
    """Number of nodes by instance type."""
    daemon_sets: tuple[str, ...]
    with_devices: frozenset[str] = frozenset()
    """Instance types whose nodes offer devices once the plugins run on them."""


@dataclass(frozen=True, slots=True)
class ClusterState:
    """What was seen of a cluster."""

    nodes: tuple[NodeState, ...]
    daemon_sets: tuple[DaemonSetState, ...]
    aws_auth_roles: tuple[str, ...]
    """Role ARNs in `mapRoles` of the `aws-auth` ConfigMap, in its order."""

    def missing(self, expected: Expected) -> list[str]:
        """Return what is not there yet, one sentence each."""
        found: list[str] = []
        for instance_type, count in expected.nodes.items():
            ready = [n for n in self.nodes if n.instance_type == instance_type and n.ready]
            if len(ready) < count:
                found.append(f"{len(ready)} of {count} {instance_type} nodes are Ready")
            bare = [n.name for n in ready if not n.devices]
            if instance_type in expected.with_devices and bare:
                found.append(f"{', '.join(bare)} offers no devices")
        wanted = sum(expected.nodes.get(kind, 0) for kind in expected.with_devices)
        states = {d.name: d for d in self.daemon_sets}
        for name in expected.daemon_sets:
            state = states.get(name, DaemonSetState(name, 0, 0))
            if state.desired < min(wanted, 1) or state.ready < state.desired:
                found.append(f"DaemonSet {name}: {state.ready} of {state.desired} pods run")
        return found


def expected_of(outputs: Mapping[str, Any]) -> Expected:
    """Return what the outputs of a stack promise."""
    nodes: dict[str, int] = {}
    for group in outputs.get("node_groups", {}).values():
        nodes[group["instance_type"]] = nodes.get(group["instance_type"], 0) + int(group["desired"])
    plugins = [p for p in outputs.get("device_plugins", []) if p in DAEMON_SETS]
    with_gpus = frozenset(name for name in nodes if _has_nvidia_gpus(name))
    return Expected(
        nodes=nodes,
        daemon_sets=tuple(DAEMON_SETS[p] for p in plugins),
        with_devices=with_gpus if "nvidia" in plugins else frozenset(),
    )


def _has_nvidia_gpus(instance_type: str) -> bool:
    accelerators = INSTANCE_TYPES[instance_type].accelerators
    return accelerators is not None and accelerators.manufacturer == "nvidia"


def observe(kubeconfig: str) -> ClusterState:
    """Look at a cluster.

    Raises:
        kubernetes.client.ApiException: the API server refuses.
    """
    from kubernetes import client, config

    api = config.new_client_from_config_dict(yaml.safe_load(kubeconfig))
    with api:
        # The client's answers are typed as unions with its asynchronous and raw variants.
        core: Any = client.CoreV1Api(api)
        apps: Any = client.AppsV1Api(api)
        nodes = tuple(_node(node) for node in core.list_node().items)
        daemon_sets = tuple(
            DaemonSetState(
                d.metadata.name, d.status.desired_number_scheduled or 0, d.status.number_ready or 0
            )
            for d in apps.list_namespaced_daemon_set(NAMESPACE).items
        )
        maps = core.list_namespaced_config_map(
            NAMESPACE, field_selector="metadata.name=aws-auth"
        ).items
    return ClusterState(nodes, daemon_sets, _mapped_roles(maps))


def wait_until_ready(
    kubeconfig: str, expected: Expected, *, deadline_seconds: float, report: Callable[[str], None]
) -> tuple[ClusterState, list[str]]:
    """Return the cluster's state and what is missing in it, at the latest at the deadline."""
    deadline = time.monotonic() + deadline_seconds
    told: list[str] = []
    while True:
        state = observe(kubeconfig)
        missing = state.missing(expected)
        if not missing or time.monotonic() > deadline:
            return state, missing
        if missing != told:
            report("waiting: " + "; ".join(missing))
            told = missing
        time.sleep(POLL_SECONDS)


def _node(node: Any) -> NodeState:
    conditions = {c.type: c.status for c in node.status.conditions or []}
    allocatable = node.status.allocatable or {}
    return NodeState(
        name=node.metadata.name,
        instance_type=(node.metadata.labels or {}).get(INSTANCE_TYPE_LABEL, ""),
        ready=conditions.get("Ready") == "True",
        devices={d: allocatable[d] for d in DEVICES if allocatable.get(d, "0") != "0"},
    )


def _mapped_roles(maps: list[Any]) -> tuple[str, ...]:
    if not maps or not maps[0].data:
        return ()
    entries = yaml.safe_load(maps[0].data.get("mapRoles") or "") or []
    return tuple(entry["rolearn"] for entry in entries)

"""Wait until a cluster is what its stack promised: nodes Ready, and every plugin on its nodes.

"Rolled out" is not enough: a DaemonSet that wants no pod counts as rolled out. So every DaemonSet
is looked for on every node that it is for, and every node is asked for its devices.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from tools.cli.rollout_expectation import DEVICES, GroupExpectation

INSTANCE_TYPE_LABEL = "node.kubernetes.io/instance-type"
NODE_GROUP_LABEL = "eks.amazonaws.com/nodegroup"
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
    node_group: str | None = None
    """Managed node group that it is of."""


@dataclass(frozen=True, slots=True)
class DaemonSetState:
    """One DaemonSet."""

    name: str
    desired: int
    ready: int


@dataclass(frozen=True, slots=True)
class ClusterState:
    """What was seen of a cluster."""

    nodes: tuple[NodeState, ...]
    daemon_sets: tuple[DaemonSetState, ...]
    aws_auth_roles: tuple[str, ...]
    """Role ARNs in `mapRoles` of the `aws-auth` ConfigMap, in its order."""
    running_on: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Nodes on which a pod of a DaemonSet runs and is ready, by DaemonSet."""

    def missing(self, expected: Iterable[GroupExpectation]) -> list[str]:
        """Return what is not there yet, one sentence each."""
        return [sentence for group in expected for sentence in self._missing_of(group)]

    def _missing_of(self, group: GroupExpectation) -> list[str]:
        found: list[str] = []
        ready = [node for node in self.nodes if node.ready and _is_of(node, group)]
        if len(ready) < group.nodes:
            found.append(
                f"node group {group.name}: {len(ready)} of {group.nodes} "
                f"{group.instance_type} nodes are Ready"
            )
        for daemon_set in group.daemon_sets:
            runs_on = self.running_on.get(daemon_set, frozenset())
            without = [node.name for node in ready if node.name not in runs_on]
            if without:
                found.append(
                    f"node group {group.name}: no pod of DaemonSet {daemon_set} runs on "
                    f"{', '.join(without)}"
                )
        for device, count in group.devices.items():
            found += [
                f"node group {group.name}: {node.name} offers {node.devices.get(device, '0')} of "
                f"{count} {device}"
                for node in ready
                if int(node.devices.get(device, "0")) < count
            ]
        return found


def _is_of(node: NodeState, group: GroupExpectation) -> bool:
    return node.node_group == group.managed_as and node.instance_type == group.instance_type


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
        running_on = _running_on(core.list_namespaced_pod(NAMESPACE).items)
        maps = core.list_namespaced_config_map(
            NAMESPACE, field_selector="metadata.name=aws-auth"
        ).items
    return ClusterState(nodes, daemon_sets, _mapped_roles(maps), running_on)


def wait_until_ready(
    kubeconfig: str,
    expected: tuple[GroupExpectation, ...],
    *,
    deadline_seconds: float,
    report: Callable[[str], None],
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
    labels = node.metadata.labels or {}
    return NodeState(
        name=node.metadata.name,
        instance_type=labels.get(INSTANCE_TYPE_LABEL, ""),
        ready=conditions.get("Ready") == "True",
        devices={d: allocatable[d] for d in DEVICES if allocatable.get(d, "0") != "0"},
        node_group=labels.get(NODE_GROUP_LABEL),
    )


def _running_on(pods: Iterable[Any]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pod in pods:
        owners = [o.name for o in pod.metadata.owner_references or [] if o.kind == "DaemonSet"]
        conditions = {c.type: c.status for c in pod.status.conditions or []}
        leaving = pod.metadata.deletion_timestamp is not None
        if pod.spec.node_name and conditions.get("Ready") == "True" and not leaving:
            for owner in owners:
                found.setdefault(owner, set()).add(pod.spec.node_name)
    return {owner: frozenset(names) for owner, names in found.items()}


def _mapped_roles(maps: list[Any]) -> tuple[str, ...]:
    if not maps or not maps[0].data:
        return ()
    entries = yaml.safe_load(maps[0].data.get("mapRoles") or "") or []
    return tuple(entry["rolearn"] for entry in entries)

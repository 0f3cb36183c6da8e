"""Wait until a cluster matches its stack: nodes are Ready and every plugin runs on its nodes.

The rollout status is not sufficient, because a DaemonSet with no desired pods counts as rolled out.
Therefore every DaemonSet is checked on each node where it must run, and every node for its devices.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml
from kubernetes import client
from kubernetes.client import ApiException
from kubernetes.config import ConfigException
from kubernetes.utils import parse_quantity
from urllib3.exceptions import HTTPError

from trainyard.components.eks.addons.eks_managed import EKS_ADDONS
from trainyard.components.runtime.aws_auth_text import first_document
from trainyard.diagnosis.pods import PodState, at, name_of, pods_by_daemon_set, ready_on, said
from trainyard.diagnosis.rollout_expectation import DEVICES, GroupExpectation
from trainyard.schedulers.eks.cluster_client import cluster_client
from trainyard.verify.node_marks import is_closed, verification_of

INSTANCE_TYPE_LABEL = "node.kubernetes.io/instance-type"
NODE_GROUP_LABEL = "eks.amazonaws.com/nodegroup"
NAMESPACES = tuple(dict.fromkeys(("kube-system", *(addon.namespace for addon in EKS_ADDONS))))
"""Namespaces of the DaemonSets of add-ons."""
POLL_SECONDS = 0.5
REQUEST_SECONDS = 15
"""Timeout for a request to an API server."""


@dataclass(frozen=True, slots=True)
class NodeState:
    """State of a node."""

    name: str
    instance_type: str
    ready: bool
    devices: Mapping[str, str]
    """Allocatable accelerators and EFA interfaces, by resource name."""
    node_group: str | None = None
    """Managed node group of the node."""
    instance_id: str = ""
    """EC2 instance id of the node."""
    not_ready_because: str = ""
    """The kubelet's message if the node is not Ready."""
    verification: str = ""
    """Result of its last verification, in words; empty without one."""
    closed: bool = False
    """Whether it is closed to jobs until it passes `verify`."""


@dataclass(frozen=True, slots=True)
class DaemonSetState:
    """State of a DaemonSet."""

    name: str
    desired: int
    ready: int


@dataclass(frozen=True, slots=True)
class ClusterState:
    """Observed state of a cluster."""

    nodes: tuple[NodeState, ...]
    daemon_sets: tuple[DaemonSetState, ...]
    aws_auth_roles: tuple[str, ...]
    """Role ARNs in `mapRoles` of the `aws-auth` ConfigMap, in file order."""
    running_on: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Nodes with a running and ready pod of a DaemonSet, by DaemonSet."""
    pods: Mapping[str, tuple[PodState, ...]] = field(
        default_factory=dict[str, tuple[PodState, ...]]
    )
    """Pods of each DaemonSet, ready or not."""

    def missing(self, expected: Iterable[GroupExpectation]) -> list[str]:
        """Return one sentence for each thing that is missing."""
        return [sentence for group in expected for sentence in self._missing_of(group)]

    def ready_nodes(self, group: GroupExpectation) -> list[NodeState]:
        """Return the nodes of a group that are Ready."""
        return [node for node in self.nodes if node.ready and group.has(node)]

    def _missing_of(self, group: GroupExpectation) -> list[str]:
        found: list[str] = []
        ready = self.ready_nodes(group)
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
                f"node group {group.name}: {node.name} has {node.devices.get(device, '0')} of "
                f"{count} {device}"
                for node in ready
                if _count(node.devices.get(device)) < count
            ]
        return found


def observe(kubeconfig: str) -> ClusterState:
    """Read the state of a cluster.

    Raises:
        kubernetes.client.ApiException: the API server rejects the request.
        urllib3.exceptions.HTTPError: the API server does not respond.
        kubernetes.config.ConfigException: the command that provides the token failed.
        ValueError, TypeError, AttributeError: the response does not match the API schema.
    """
    limits = {"_request_timeout": REQUEST_SECONDS}
    with cluster_client(kubeconfig) as api:
        # The client types its responses as unions with the asynchronous and raw variants.
        core: Any = client.CoreV1Api(api)
        apps: Any = client.AppsV1Api(api)
        nodes = tuple(_node(node) for node in core.list_node(**limits).items)
        daemon_sets = tuple(
            _daemon_set(found)
            for namespace in NAMESPACES
            for found in apps.list_namespaced_daemon_set(namespace, **limits).items
        )
        pods = pods_by_daemon_set(
            pod
            for namespace in NAMESPACES
            for pod in core.list_namespaced_pod(namespace, **limits).items
        )
        maps = core.list_namespaced_config_map(
            "kube-system", field_selector="metadata.name=aws-auth", **limits
        ).items
    return ClusterState(nodes, daemon_sets, _mapped_roles(maps), ready_on(pods), pods)


def wait_until_ready(
    kubeconfig: str,
    expected: tuple[GroupExpectation, ...],
    *,
    deadline_seconds: float,
    report: Callable[[str], None],
    poll_seconds: float = POLL_SECONDS,
) -> tuple[ClusterState, list[str]]:
    """Return the cluster's state and what is missing, at the deadline at the latest.

    Requests to an API server that does not respond are retried until the deadline; the state is the
    last one observed.
    """
    deadline = time.monotonic() + deadline_seconds
    told: list[str] = []
    state = ClusterState((), (), ())
    while True:
        seen, silence = look_at(kubeconfig)
        state = seen or state
        missing = [silence] if silence else state.missing(expected)
        if not missing or time.monotonic() > deadline:
            return state, missing
        if missing != told:
            report("waiting: " + "; ".join(missing))
            told = missing
        time.sleep(poll_seconds)


def look_at(kubeconfig: str) -> tuple[ClusterState | None, str]:
    """Return the state of a cluster, or why it cannot be read."""
    try:
        return observe(kubeconfig), ""
    except ApiException as error:
        why = said(f"{error.status} {error.reason}", None)
    except (ConfigException, HTTPError) as error:
        why = type(error).__name__
    except (ValueError, TypeError, AttributeError):
        why = "its response is invalid"
    return None, f"the state of the cluster cannot be read from its API server ({why})"


def _node(node: Any) -> NodeState:
    conditions = at(node, "status", "conditions") or []
    ready = next((c for c in conditions if c.type == "Ready"), None)
    is_ready = ready is not None and ready.status == "True"
    allocatable = at(node, "status", "allocatable") or {}
    labels = at(node, "metadata", "labels") or {}
    return NodeState(
        name=name_of(node, "metadata", "name"),
        instance_type=labels.get(INSTANCE_TYPE_LABEL, ""),
        ready=is_ready,
        devices={d: allocatable[d] for d in DEVICES if _count(allocatable.get(d))},
        node_group=labels.get(NODE_GROUP_LABEL),
        instance_id=(at(node, "spec", "provider_id") or "").rpartition("/")[2],
        not_ready_because="" if is_ready or ready is None else said(ready.reason, ready.message),
        verification=verification_of(labels),
        closed=is_closed(at(node, "spec", "taints") or []),
    )


def _daemon_set(found: Any) -> DaemonSetState:
    return DaemonSetState(
        name_of(found, "metadata", "name"),
        at(found, "status", "desired_number_scheduled") or 0,
        at(found, "status", "number_ready") or 0,
    )


_LONGEST_COUNT = 16
"""Number of characters; no node has a longer device count."""


def _count(quantity: str | None) -> int:
    """Return the number of devices of a node; 0 if the quantity is not a number.

    Kubernetes writes 1000 as `1k`:
    https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
    """
    if quantity is None or len(quantity) > _LONGEST_COUNT:
        return 0
    try:
        return int(parse_quantity(quantity))
    except (ValueError, ArithmeticError):
        return 0


def _mapped_roles(maps: list[Any]) -> tuple[str, ...]:
    if not maps or not maps[0].data:
        return ()
    try:
        entries = first_document(maps[0].data.get("mapRoles") or "")
    except (yaml.YAMLError, ValueError, RecursionError):
        return ()  # invalid YAML grants no access
    found = entries if isinstance(entries, list) else []
    return tuple(
        str(entry["rolearn"])
        for entry in found
        if isinstance(entry, Mapping) and entry.get("rolearn")
    )

"""Wait until a cluster matches its stack, and explain why it does not."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import yaml
from botocore.exceptions import BotoCoreError, ClientError
from kubernetes import client
from kubernetes.client import ApiException
from kubernetes.config import ConfigException
from kubernetes.utils import parse_quantity
from urllib3.exceptions import HTTPError

from trainyard.cli.failures import CommandError
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.eks.addons.eks_managed import EKS_ADDONS, NODE_MONITORING_AGENT
from trainyard.components.eks.addons.registry import SELF_MANAGED_ADDONS
from trainyard.components.plain_text import shell_word
from trainyard.components.runtime.aws_auth_text import first_document
from trainyard.diagnosis.node_access import LostAccess, lost_access
from trainyard.diagnosis.node_groups import GroupFacts, NodeGroupPlace, read_group, what_it_lacks
from trainyard.diagnosis.pods import PodState, at, name_of, pods_by_daemon_set, ready_on, said
from trainyard.schedulers.kubernetes.cluster_client import cluster_client
from trainyard.verify.node_marks import is_closed, verification_of
from trainyard.workspace.target import Target

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


# Wait until a cluster matches its stack: nodes are Ready and every plugin runs on its nodes.
#
# The rollout status is not sufficient, because a DaemonSet with no desired pods counts as rolled
# out. Therefore every DaemonSet is checked on each node where it must run, and every node for its
# devices.


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
    aws_auth: Mapping[str, str] | None = None
    """Data of the `aws-auth` ConfigMap; None if it does not exist."""

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
    data = (maps[0].data or {}) if maps else None
    return ClusterState(nodes, daemon_sets, _mapped_roles(data), ready_on(pods), pods, data)


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


def _mapped_roles(data: Mapping[str, str] | None) -> tuple[str, ...]:
    try:
        entries = first_document((data or {}).get("mapRoles") or "")
    except (yaml.YAMLError, ValueError, RecursionError):
        return ()  # invalid YAML grants no access
    found = entries if isinstance(entries, list) else []
    return tuple(
        str(entry["rolearn"])
        for entry in found
        if isinstance(entry, Mapping) and entry.get("rolearn")
    )


def reasons(
    outputs: Mapping[str, Any],
    expected: Sequence[GroupExpectation],
    state: ClusterState,
    *,
    target: Target,
    kubectl: str,
) -> list[str]:
    """Return why nodes and plugins are missing, and commands that show more.

    Args:
        outputs: Outputs of the stack.
        expected: The node groups that the outputs describe.
        state: The observed state.
        target: The stack, for its account.
        kubectl: The command with its kubeconfig.
    """
    promised = dict.fromkeys(name for group in expected for name in group.daemon_sets)
    lost = refused_roles(outputs, expected, state, target=target, kubectl=kubectl)
    found = [line for each in lost for line in each.lines]
    found += [*nodes_not_ready(state, kubectl), *plugins_not_ready(promised, state, kubectl)]
    if _lacks_nodes(expected, state):
        found += _groups(outputs, state, target)
    return found


def refused_roles(
    outputs: Mapping[str, Any],
    expected: Iterable[GroupExpectation],
    state: ClusterState,
    *,
    target: Target,
    kubectl: str,
) -> list[LostAccess]:
    """Return the roles of nodes that the cluster does not let in, if nodes are not Ready.

    Empty too if the account cannot be asked. The arguments are those of `reasons`.
    """
    if not _lacks_nodes(expected, state):
        return []
    try:
        with target.access():
            eks = target.client("eks")
            return lost_access(eks, outputs, state.aws_auth, target=target, kubectl=kubectl)
    except (BotoCoreError, ClientError, CommandError, LookupError, TypeError):
        return []  # the node groups are read next, with the same errors in words


def _lacks_nodes(expected: Iterable[GroupExpectation], state: ClusterState) -> bool:
    return any(not node.ready for node in state.nodes) or any(
        len(state.ready_nodes(group)) < group.nodes for group in expected
    )


def nodes_not_ready(state: ClusterState, kubectl: str) -> list[str]:
    """Return the kubelets' messages of nodes that joined but are not Ready."""
    return [
        f"{node.name} has joined and is not Ready: {node.not_ready_because}; more: "
        f"{kubectl} describe node {shell_word(node.name)}"
        for node in state.nodes
        if not node.ready and node.not_ready_because
    ]


def plugins_not_ready(daemon_sets: Iterable[str], state: ClusterState, kubectl: str) -> list[str]:
    """Return why pods of some DaemonSets do not run, with commands to inspect them."""
    return [
        sentence
        for name in daemon_sets
        for pod in state.pods.get(name, ())
        if not pod.ready
        for sentence in _pod(name, pod, kubectl)
    ]


def _pod(daemon_set: str, pod: PodState, kubectl: str) -> list[str]:
    namespaced = f"{kubectl} --namespace {shell_word(pod.namespace)}"
    name = shell_word(pod.name)
    return [
        f"{daemon_set} on {pod.node or 'no node'}: pod {pod.name} does not run: {pod.reason}",
        f"  {namespaced} describe pod {name}",
        f"  {namespaced} logs {name} --previous",
    ]


def _groups(outputs: Mapping[str, Any], state: ClusterState, target: Target) -> list[str]:
    joined = {node.instance_id for node in state.nodes}
    place = NodeGroupPlace(
        region=target.region, cluster=outputs["cluster_name"], account=target.account
    )
    try:
        with target.access():
            eks, autoscaling = target.client("eks"), target.client("autoscaling")

            def read(name: str, output: Mapping[str, Any]) -> GroupFacts:
                return read_group(
                    eks,
                    autoscaling,
                    cluster=place.cluster,
                    name=name,
                    output=output,
                    mapped_roles=state.aws_auth_roles,
                )

            return [
                sentence
                for name, output in outputs.get("node_groups", {}).items()
                for sentence in _group_reasons(
                    lambda n=name, o=output: read(n, o), name, joined, place
                )
            ]
    except BotoCoreError as error:
        return [f"the reason cannot be read from the account: {error}"]


def _group_reasons(
    read: Callable[[], GroupFacts], name: str, joined: Collection[str], place: NodeGroupPlace
) -> list[str]:
    """Return what a node group lacks. If it cannot be read, the others are still explained."""
    try:
        return what_it_lacks(read(), joined, place)
    except ClientError as error:
        why = str(error)
    except (LookupError, TypeError) as error:  # an answer that does not match the API
        why = f"a response has no {error}"
    return [f"node group {name}: the reason cannot be read from the account: {why}"]

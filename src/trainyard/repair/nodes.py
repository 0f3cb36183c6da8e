"""The nodes of a cluster: their health and pods, and what takes the pods away from them.

Sources:
    https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/
    https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/
    https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kubernetes import client
from kubernetes.client import ApiException

from trainyard.components.eks.label_plan import FAILURE_LABEL, PREFIX, RESULT_LABEL, TIME_LABEL
from trainyard.diagnosis.pods import name_of
from trainyard.repair.decision import Condition, Node, Verification, health_of

BEGUN = f"{PREFIX}/repair-began-at"
"""Annotation of a node from the beginning of its repair."""
REPORTER = "trainyard"
_MIRROR = "kubernetes.io/config.mirror"
"""https://kubernetes.io/docs/reference/labels-annotations-taints/#kubernetes-io-config-mirror"""
_ENDED = ("Succeeded", "Failed")
_GONE = (404, 409)
"""Answers to an eviction: there is no pod of the name, or it is another one."""
_DISRUPTION_BUDGET = 429
"""Answer to an eviction that a PodDisruptionBudget does not allow now."""
_EVENTS_NAMESPACE = "default"
"""Namespace of the events of nodes, which have none themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningPod:
    """A pod that a drain evicts."""

    namespace: str
    name: str
    uid: str
    owner: str
    """Kind and name of its controller, as in `Job train`; empty if nothing recreates it."""

    @property
    def described(self) -> str:
        """The pod and its controller."""
        whose = f"of {self.owner}" if self.owner else "which nothing starts again"
        return f"{self.namespace}/{self.name}, {whose}"


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of a cluster, through its API server."""

    api: client.ApiClient

    def all(self, *, now: datetime) -> tuple[Node, ...]:
        """Return the nodes with their health at a time."""
        core: Any = client.CoreV1Api(self.api)
        return tuple(_node(each, now) for each in core.list_node().items)

    def pods(self, node: str) -> list[RunningPod]:
        """Return the pods that a drain evicts: not those of DaemonSets and of the kubelet."""
        core: Any = client.CoreV1Api(self.api)
        found = core.list_pod_for_all_namespaces(field_selector=f"spec.nodeName={node}").items
        return [pod for each in found for pod in _running(each)]

    def begin(self, node: str, at: datetime) -> None:
        """Cordon a node, and note that its repair has begun."""
        core: Any = client.CoreV1Api(self.api)
        core.patch_node(
            node,
            {
                "metadata": {"annotations": {BEGUN: at.isoformat(timespec="seconds")}},
                "spec": {"unschedulable": True},
            },
        )

    def evict(self, pod: RunningPod) -> str:
        """Evict a pod; return why a PodDisruptionBudget does not allow it, or nothing."""
        core: Any = client.CoreV1Api(self.api)
        eviction = client.V1Eviction(
            metadata=client.V1ObjectMeta(name=pod.name, namespace=pod.namespace),
            # A new pod of the name, as of a StatefulSet, must not be evicted.
            delete_options=client.V1DeleteOptions(
                preconditions=client.V1Preconditions(uid=pod.uid)
            ),
        )
        try:
            core.create_namespaced_pod_eviction(pod.name, pod.namespace, eviction)
        except ApiException as error:
            if error.status == _DISRUPTION_BUDGET:
                return "a PodDisruptionBudget does not allow its eviction"
            if error.status not in _GONE:
                raise
        return ""

    def record(self, node: Node, reason: str, message: str, at: datetime, *, bad: bool) -> None:
        """Add an event to a node."""
        core: Any = client.CoreV1Api(self.api)
        core.create_namespaced_event(
            _EVENTS_NAMESPACE,
            {
                "metadata": {"generateName": f"{node.name}."},
                "involvedObject": {"kind": "Node", "name": node.name, "uid": node.uid},
                "type": "Warning" if bad else "Normal",
                "reason": reason,
                "message": message,
                "source": {"component": REPORTER},
                "reportingComponent": REPORTER,
                "firstTimestamp": at.isoformat(timespec="seconds"),
                "lastTimestamp": at.isoformat(timespec="seconds"),
                "count": 1,
            },
        )


def _node(found: Any, now: datetime) -> Node:
    conditions = [
        Condition(
            type=each.type,
            status=each.status,
            reason=each.reason or "",
            message=each.message or "",
            since=each.last_transition_time,
        )
        for each in (found.status.conditions if found.status else None) or []
    ]
    labels = found.metadata.labels or {}
    return Node(
        name=name_of(found, "metadata", "name"),
        uid=found.metadata.uid or "",
        instance_id=(found.spec.provider_id or "").rpartition("/")[2],
        is_ready=any(each.type == "Ready" and each.status == "True" for each in conditions),
        health=health_of(conditions, now=now),
        verification=Verification(
            result=labels.get(RESULT_LABEL, ""),
            at=labels.get(TIME_LABEL, ""),
            failures=labels.get(FAILURE_LABEL, "").replace(".", ", "),
        ),
        has_begun=BEGUN in (found.metadata.annotations or {}),
    )


def _running(pod: Any) -> Iterator[RunningPod]:
    owner = next((each for each in pod.metadata.owner_references or [] if each.controller), None)
    is_own = _MIRROR in (pod.metadata.annotations or {})
    if is_own or (owner and owner.kind == "DaemonSet") or pod.status.phase in _ENDED:
        return
    yield RunningPod(
        namespace=pod.metadata.namespace,
        name=pod.metadata.name,
        uid=pod.metadata.uid,
        owner=f"{owner.kind} {owner.name}" if owner else "",
    )

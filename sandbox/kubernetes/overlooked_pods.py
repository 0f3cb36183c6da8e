"""Pods that kwok has overlooked, and what a kubelet would do for them.

kwok runs the pods of a node whose lease it holds. It lists them when it has made the lease, and
passes over each as long as its own cache does not show the lease yet, a moment later; afterwards
it waits for events. A pod that was bound in that moment, as one of a DaemonSet that is older than
the node, then has no event any more, and stays Pending on a node that is ready.

Source: https://github.com/kubernetes-sigs/kwok/tree/v0.8.0/pkg/kwok/controllers: `sync` and `Held`
of `node_lease_controller.go`, `watchResources` of `pod_controller.go`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

ANNOTATION = "sandbox.trainyard/looked-for"
"""A change of it is an event, and says nothing to anybody else."""
TIMEOUT_SECONDS = 3.0
"""How long kwok may take for a pod, and between two attempts; it takes less than a second."""
MOST_ATTEMPTS = 5
"""Then it is no oversight: kwok leaves pods alone that are meant to break."""


class OverlookedPods:
    """Remembers since when the pods of one cluster are waiting for kwok."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Start with none; `now` is in seconds."""
        self._now = now
        self._due: dict[str, float] = {}
        self._attempts: dict[str, int] = {}

    def due(
        self, pods: Iterable[Mapping[str, Any]], nodes: Collection[str]
    ) -> list[tuple[Mapping[str, Any], int]]:
        """Return the pods to remind kwok of now, with which attempt that is for each.

        Args:
            pods: All pods, as the API server lists them.
            nodes: Names of the nodes that have joined.
        """
        waiting = {pod["metadata"]["uid"]: pod for pod in pods if _waits(pod, nodes)}
        for uid in self._due.keys() - waiting.keys():
            del self._due[uid]
            self._attempts.pop(uid, None)
        now = self._now()
        found: list[tuple[Mapping[str, Any], int]] = []
        for uid, pod in waiting.items():
            attempt = self._attempts.get(uid, 0) + 1
            if now < self._due.setdefault(uid, now + TIMEOUT_SECONDS) or attempt > MOST_ATTEMPTS:
                continue
            self._due[uid], self._attempts[uid] = now + TIMEOUT_SECONDS, attempt
            found.append((pod, attempt))
        return found


def reminder(attempt: int) -> dict[str, Any]:
    """Return the change of a pod that is an event."""
    return {"metadata": {"annotations": {ANNOTATION: str(attempt)}}}


def reported_again(pod: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the status that a kubelet would report again; None where it has nothing to correct.

    The node lifecycle controller takes the readiness of every pod away while a node is not Ready,
    also just after it has joined. A kubelet then reports its pods anew; kwok does not.
    https://github.com/kubernetes/kubernetes/blob/v1.36.4/pkg/controller/util/node/controller_utils.go,
    `MarkPodsNotReady`
    """
    status = pod.get("status") or {}
    conditions = {each["type"]: each["status"] for each in status.get("conditions") or []}
    containers = status.get("containerStatuses") or []
    runs = status.get("phase") == "Running" and containers and all(c["ready"] for c in containers)
    if not runs or conditions.get("Ready") != "False":
        return None
    return {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}


def _waits(pod: Mapping[str, Any], nodes: Collection[str]) -> bool:
    """Return whether a pod is bound to a node that could run it, and nobody has begun with it."""
    status = pod.get("status") or {}
    return (
        pod["spec"].get("nodeName") in nodes
        and "deletionTimestamp" not in pod["metadata"]
        and status.get("phase", "Pending") == "Pending"
        and not status.get("startTime")
    )

"""Pods that kwok has missed, and status updates that a kubelet would send.

kwok runs the pods of a node whose lease it holds. It lists them when it has created the lease, and
skips them while its own cache does not contain the lease yet, which may take a moment; afterwards
it waits for events. A pod that was bound in that moment, such as one of a DaemonSet that is older
than the node, then gets no further event and stays Pending on a Ready node. One that was deleted in
that moment is never gone.

Source: https://github.com/kubernetes-sigs/kwok/tree/v0.8.0/pkg/kwok/controllers: `sync` and `Held`
of `node_lease_controller.go`, `watchResources` of `pod_controller.go`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

ANNOTATION = "sandbox.trainyard/looked-for"
"""A change of this annotation is an event without other effects."""
TIMEOUT_SECONDS = 3.0
"""Time that kwok may take for a pod; it takes less than a second."""
MOST_DOUBLINGS = 4
"""Each attempt doubles the time until the next one, this many times. There is no last attempt:
kwok may get a lease only after any number of them, and an event without need has no effect."""


class OverlookedPods:
    """Records since when the pods of a cluster have been waiting for kwok."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Start without pods; `now` is in seconds."""
        self._now = now
        self._due: dict[str, float] = {}
        self._attempts: dict[str, int] = {}

    def due(
        self, pods: Iterable[Mapping[str, Any]], nodes: Collection[str]
    ) -> list[tuple[Mapping[str, Any], int]]:
        """Return the pods of which kwok must be notified now, with the attempt number of each.

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
            if now < self._due.setdefault(uid, now + TIMEOUT_SECONDS):
                continue
            attempt = self._attempts[uid] = self._attempts.get(uid, 0) + 1
            self._due[uid] = now + TIMEOUT_SECONDS * 2 ** min(attempt, MOST_DOUBLINGS)
            found.append((pod, attempt))
        return found


def reminder(attempt: int) -> dict[str, Any]:
    """Return the patch of a pod that causes an event."""
    return {"metadata": {"annotations": {ANNOTATION: str(attempt)}}}


def reported_again(pod: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the status that a kubelet would report again; None if it is correct.

    The node lifecycle controller marks every pod as not ready while a node is not Ready, also just
    after it has joined. A kubelet then reports its pods again; kwok does not.
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
    """Return whether a pod is bound to a node that can run it, and must be started or removed."""
    status = pod.get("status") or {}
    to_start = status.get("phase", "Pending") == "Pending" and not status.get("startTime")
    return pod["spec"].get("nodeName") in nodes and (
        to_start or "deletionTimestamp" in pod["metadata"]
    )

"""The kubelets of a cluster, and the tasks of the EKS cloud controller."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from trainyard.sandbox.kubernetes.api import STRATEGIC_MERGE_PATCH, ApiError, unless_gone
from trainyard.sandbox.kubernetes.device_plugins import plugin_resources
from trainyard.sandbox.kubernetes.job_deadlines import JobDeadlines
from trainyard.sandbox.kubernetes.job_pods import JobPods
from trainyard.sandbox.kubernetes.kubelet import Kubelet
from trainyard.sandbox.kubernetes.overlooked_pods import OverlookedPods, reminder, reported_again
from trainyard.sandbox.kubernetes.startup import ControlPlane

_LOG = logging.getLogger(__name__)


class ClusterNodes:
    """The instances that are, will be, or were nodes of a cluster."""

    def __init__(self, control_plane: ControlPlane, terminate: Callable[[str], None]) -> None:
        """Start without nodes; `terminate` terminates the instance with an id."""
        self.control_plane = control_plane
        self._terminate = terminate
        self._administrator = control_plane.administrator()
        self._kubelets: dict[str, Kubelet] = {}
        self._leaving: dict[str, Kubelet] = {}
        self._overlooked = OverlookedPods()
        self._job_pods = JobPods(control_plane, self._lose)
        self._deadlines = JobDeadlines(self._administrator)
        self.seen: object = None
        """What the last step found: another value than before if anything changes."""

    @property
    def kubelets(self) -> Mapping[str, Kubelet]:
        """The kubelets of running instances, by instance id."""
        return MappingProxyType(self._kubelets)

    def add(self, kubelet: Kubelet) -> None:
        """Add a kubelet that tries to join from now on."""
        self._kubelets[kubelet.instance_id] = kubelet

    def remove(self, instance_id: str) -> None:
        """Remove the Node of an instance that has ended; ignores instances of other clusters."""
        kubelet = self._kubelets.pop(instance_id, None)
        if kubelet is None:
            return
        kubelet.close()
        if kubelet.registered:
            self._leaving[instance_id] = kubelet

    def step(self) -> None:
        """Perform due actions: remove Nodes, join, detect lost access, report devices, run pods.

        Raises:
            ApiError, ApiUnreachableError: the step is incomplete for at least one node; the others
                are processed, and the next step retries.
        """
        for instance_id, kubelet in list(self._leaving.items()):
            self._remove_node(kubelet)
            del self._leaving[instance_id]
        for kubelet in self._kubelets.values():
            kubelet.try_to_join()
        joined = [kubelet for kubelet in self._kubelets.values() if kubelet.joined]
        self.seen = (frozenset(self._kubelets), len(joined))
        if not joined:
            return
        self._deadlines.step()
        # From the API server's cache, because this runs several times per second.
        pods = self._administrator.get("/api/v1/pods", resourceVersion="0")["items"]
        self.seen = (*self.seen, [each["metadata"]["resourceVersion"] for each in pods])
        running = plugin_resources(pods)
        refused: list[ApiError] = []
        for kubelet in joined:
            try:
                kubelet.offer_devices(running.get(kubelet.node_name, set()))
                kubelet.heartbeat()
            except ApiError as error:
                refused.append(error)
        self._attend_to(pods, {each.node_name for each in joined})
        self._job_pods.step(pods, {each.node_name: each for each in joined})
        if refused:
            raise refused[0]

    def close(self) -> None:
        """Close all connections."""
        self._administrator.close()
        self._job_pods.close()
        for kubelet in self._kubelets.values():
            kubelet.close()

    def _lose(self, kubelet: Kubelet) -> None:
        """Let a node fail: it becomes NotReady, and its group replaces the instance."""
        kubelet.go_silent()
        self._terminate(kubelet.instance_id)

    def _attend_to(self, pods: Iterable[Mapping[str, Any]], nodes: Collection[str]) -> None:
        """Notify kwok of missed pods, and report pods again that were marked as not ready."""
        for pod, attempt in self._overlooked.due(pods, nodes):
            self._remind(pod, attempt)
        for pod in pods:
            status = reported_again(pod) if pod["spec"].get("nodeName") in nodes else None
            if status is not None:
                self._report(pod, status)

    def _remind(self, pod: Mapping[str, Any], attempt: int) -> None:
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        _LOG.info("%s: kwok is reminded of pod %s/%s", self.control_plane.name, namespace, name)
        with unless_gone():
            self._administrator.patch(
                f"/api/v1/namespaces/{namespace}/pods/{name}", reminder(attempt)
            )

    def _report(self, pod: Mapping[str, Any], status: dict[str, Any]) -> None:
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        _LOG.info("%s: pod %s/%s is ready again", self.control_plane.name, namespace, name)
        path = f"/api/v1/namespaces/{namespace}/pods/{name}/status"
        with unless_gone():
            self._administrator.patch(path, status, STRATEGIC_MERGE_PATCH)

    def _remove_node(self, kubelet: Kubelet) -> None:
        """Delete the Node as the cloud controller does, then its pods, which no longer run.

        The pod garbage collector would do the same to the pods, but 40 s later.
        https://github.com/kubernetes/kubernetes/blob/v1.36.4/pkg/controller/podgc/gc_controller.go
        """
        self._delete(kubelet.path)
        selector = f"spec.nodeName={kubelet.node_name}"
        for pod in self._administrator.get("/api/v1/pods", fieldSelector=selector)["items"]:
            namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
            path = f"/api/v1/namespaces/{namespace}/pods/{name}"
            if pod["status"].get("phase") not in ("Succeeded", "Failed"):
                with unless_gone():
                    self._administrator.patch(
                        f"{path}/status", {"status": _orphaned()}, STRATEGIC_MERGE_PATCH
                    )
            self._delete(f"{path}?gracePeriodSeconds=0")
        _LOG.info(
            "%s left %s: node %s is removed",
            kubelet.instance_id,
            self.control_plane.name,
            kubelet.node_name,
        )

    def _delete(self, path: str) -> None:
        with unless_gone():
            self._administrator.delete(path)


def _orphaned() -> dict[str, Any]:
    """Return the status that the pod garbage collector gives to a pod without a node."""
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "DeletionByPodGC",
        "message": "PodGC: node no longer exists",
        "lastTransitionTime": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
    }
    return {"phase": "Failed", "conditions": [condition]}

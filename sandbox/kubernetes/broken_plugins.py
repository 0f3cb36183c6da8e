"""Device plugins that crash because of a scheduled fault: their pods restart repeatedly.

kwok does not run these pods meanwhile, and this module writes the status that a kubelet would
write. When the fault ends, the pods are recreated, as after `kubectl rollout restart`.
"""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Collection, Mapping
from typing import Any, Protocol

from trainyard.sandbox.kubernetes.api import STRATEGIC_MERGE_PATCH, unless_gone
from trainyard.sandbox.kubernetes.startup import ControlPlane

_LOG = logging.getLogger(__name__)

_PODS = "/api/v1/namespaces/kube-system/pods"
_CRASHED = "CrashLoopBackOff"


class PodRunners(Protocol):
    """Runs the pods of clusters; `ControlPlanes` in the daemon."""

    def leave_alone(self, name: str, pods: Collection[str]) -> None:
        """Keep pods with one of these values of the label `name` from running in a cluster."""
        ...


class BrokenPlugins:
    """The broken plugins of a cluster."""

    def __init__(self, control_plane: ControlPlane, runners: PodRunners) -> None:
        """Start without broken plugins."""
        self._name = control_plane.name
        self._administrator = control_plane.administrator()
        self._runners = runners
        self._broken: frozenset[str] = frozenset()
        self._mended: frozenset[str] = frozenset()
        """Repaired plugins whose crashed pods still exist."""

    def step(self, broken: Collection[str]) -> list[str]:
        """Break and repair plugins until exactly these are broken.

        Args:
            broken: Values of the label `name` of their pods.

        Returns:
            The label value of each pod that has crashed in this step.

        Raises:
            ApiError, ApiUnreachableError: the step is incomplete; the next one retries.
        """
        if self._broken != frozenset(broken):
            self._runners.leave_alone(self._name, broken)
            self._mended = (self._mended | self._broken) - frozenset(broken)
            self._broken = frozenset(broken)
            _LOG.info("%s: broken plugins: %s", self._name, sorted(broken) or "none")
        for pod in self._pods(self._mended):
            self._end(pod)
        self._mended = frozenset()
        crashed: list[str] = []
        for pod in self._pods(self._broken):
            if "deletionTimestamp" in pod["metadata"]:
                self._end(pod)
            elif pod["spec"].get("nodeName") and not _is_crashed(pod):
                self._crash(pod)
                crashed.append(pod["metadata"]["labels"]["name"])
        return crashed

    def close(self) -> None:
        """Close the connection."""
        self._administrator.close()

    def _pods(self, names: Collection[str]) -> list[dict[str, Any]]:
        if not names:
            return []
        selector = f"name in ({','.join(sorted(names))})"
        return self._administrator.get(_PODS, labelSelector=selector)["items"]

    def _end(self, pod: Mapping[str, Any]) -> None:
        with unless_gone():
            self._administrator.delete(f"{_PODS}/{pod['metadata']['name']}?gracePeriodSeconds=0")

    def _crash(self, pod: Mapping[str, Any]) -> None:
        path = f"{_PODS}/{pod['metadata']['name']}/status"
        self._administrator.patch(path, {"status": _crashed(pod)}, STRATEGIC_MERGE_PATCH)


def _is_crashed(pod: Mapping[str, Any]) -> bool:
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    return any(_CRASHED in str(each.get("state")) for each in statuses)


def _crashed(pod: Mapping[str, Any]) -> dict[str, Any]:
    now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    not_ready = {
        "status": "False",
        "reason": "ContainersNotReady",
        "lastTransitionTime": now,
    }
    return {
        "phase": "Running",
        "conditions": [{"type": kind, **not_ready} for kind in ("Ready", "ContainersReady")],
        "containerStatuses": [
            {
                "name": each["name"],
                "image": each["image"],
                "imageID": "",
                "ready": False,
                "restartCount": 5,
                "state": {
                    "waiting": {
                        "reason": _CRASHED,
                        "message": f"back-off 2m40s restarting failed container={each['name']}",
                    }
                },
                "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}},
            }
            for each in pod["spec"]["containers"]
        ],
    }

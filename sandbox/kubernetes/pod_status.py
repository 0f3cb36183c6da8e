"""The status of a pod as its kubelet reports it.

Source: https://github.com/kubernetes/kubernetes/blob/v1.36.4/pkg/kubelet/status/generate.go and
https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/
"""

from __future__ import annotations

import datetime as dt
import ipaddress
from collections.abc import Mapping
from typing import Any

_ADDRESSES = "100.64.0.0"
"""First address of the pods; the emulated VPC has no route to them."""


def running_status(pod: Mapping[str, Any], node_address: str, number: int) -> dict[str, Any]:
    """Return the status of a pod whose containers run.

    Args:
        pod: The pod.
        node_address: Address of its node.
        number: Number of the pod in the cluster, from which its address is derived.
    """
    now, spec = _now(), pod["spec"]
    address = node_address if spec.get("hostNetwork") else _pod_address(number)
    done = {"terminated": {"exitCode": 0, "reason": "Completed", "finishedAt": now}}
    return {
        "phase": "Running",
        "startTime": now,
        "hostIP": node_address,
        "hostIPs": [{"ip": node_address}],
        "podIP": address,
        "podIPs": [{"ip": address}],
        "conditions": [
            {"type": kind, "status": "True", "lastTransitionTime": now}
            for kind in ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")
        ],
        "initContainerStatuses": [
            {**_container(each), "ready": True, "state": done}
            for each in spec.get("initContainers") or []
        ],
        "containerStatuses": [
            {
                **_container(each),
                "ready": True,
                "started": True,
                # `null` removes the state that a strategic merge would keep.
                "state": {"running": {"startedAt": now}, "waiting": None},
            }
            for each in spec["containers"]
        ],
    }


def unconfigured_status(pod: Mapping[str, Any], message: str) -> dict[str, Any]:
    """Return the status of a pod whose containers cannot be created, until the cause is gone.

    Args:
        pod: The pod.
        message: What is missing, in the words of the kubelet.
    """
    now = _now()
    waiting = {"reason": "CreateContainerConfigError", "message": message}
    not_ready = {"status": "False", "reason": "ContainersNotReady", "lastTransitionTime": now}
    return {
        "phase": "Pending",
        "startTime": (pod.get("status") or {}).get("startTime") or now,
        "conditions": [{"type": kind, **not_ready} for kind in ("Ready", "ContainersReady")],
        "containerStatuses": [
            {**_container(each), "ready": False, "started": False, "state": {"waiting": waiting}}
            for each in pod["spec"]["containers"]
        ],
    }


def ended_status(pod: Mapping[str, Any], exit_code: int) -> dict[str, Any]:
    """Return the status of a pod whose containers have ended with an exit code."""
    now, good = _now(), exit_code == 0
    not_ready = {
        "status": "False",
        "reason": "PodCompleted" if good else "PodFailed",
        "lastTransitionTime": now,
    }
    ended = {
        "exitCode": exit_code,
        "reason": "Completed" if good else "Error",
        "startedAt": (pod.get("status") or {}).get("startTime") or now,
        "finishedAt": now,
    }
    return {
        "phase": "Succeeded" if good else "Failed",
        "conditions": [{"type": kind, **not_ready} for kind in ("Ready", "ContainersReady")],
        "containerStatuses": [
            {
                **_container(each),
                "ready": False,
                "started": False,
                "state": {"running": None, "terminated": ended},
            }
            for each in pod["spec"]["containers"]
        ],
    }


def _container(container: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": container["name"],
        "image": container["image"],
        "imageID": "",
        "restartCount": 0,
    }


def _pod_address(number: int) -> str:
    return str(ipaddress.IPv4Address(_ADDRESSES) + number)


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")

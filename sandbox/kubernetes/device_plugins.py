"""The extended resources of nodes, by the device plugins that run or crash there."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Protocol

from trainyard.sandbox.instance_types import InstanceType
from trainyard.sandbox.kubernetes.api import STRATEGIC_MERGE_PATCH, unless_gone
from trainyard.sandbox.kubernetes.control_planes import ControlPlane

# The extended resources of a node, according to the device plugins that run on it.
#
# A kubelet does not know GPUs or EFA devices until a plugin registers them over a socket on the
# node. A resource therefore appears when the plugin's pod runs, and disappears when it stops.


NVIDIA_GPU = "nvidia.com/gpu"
EFA = "vpc.amazonaws.com/efa"
NEURON_DEVICE, NEURON_CORE = "aws.amazon.com/neuron", "aws.amazon.com/neuroncore"
"""Resources of the plugin of Neuron.
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/kubernetes-getting-started.html"""

_PLUGINS = {
    # https://github.com/NVIDIA/k8s-device-plugin
    "k8s-device-plugin": {NVIDIA_GPU},
    # https://github.com/aws/eks-charts/tree/master/stable/aws-efa-k8s-device-plugin
    "aws-efa-k8s-device-plugin": {EFA},
    # https://github.com/aws-neuron/neuron-helm-charts
    "neuron-device-plugin": {NEURON_DEVICE, NEURON_CORE},
}
"""Resources by the last path component of the plugin's image repository."""


def device_counts(instance_type: InstanceType, efa_interfaces: int) -> dict[str, int]:
    """Return the number of devices of each kind that a plugin would find on an instance.

    An EFA device is an interface that the instance was launched with, so a launch template with
    fewer than the type's maximum results in fewer devices. MIG and time slicing are not simulated.
    Neuron devices and cores are counted independently, as the plugin does: a pod that uses a device
    does not reduce the number of cores.
    """
    found = instance_type.accelerators
    counts = {NVIDIA_GPU: found.count if found and found.maker == "nvidia" else 0}
    counts[EFA] = efa_interfaces
    if found and found.maker == "neuron":
        counts |= {NEURON_DEVICE: found.count, NEURON_CORE: found.cores}
    return counts


def plugin_resources(pods: Iterable[Mapping[str, Any]]) -> dict[str, set[str]]:
    """Return the resources whose plugin runs, by node name.

    Args:
        pods: Pods as the API server lists them.
    """
    found: dict[str, set[str]] = {}
    for pod in pods:
        node = pod["spec"].get("nodeName")
        if not node or not _ready(pod):
            continue
        for container in pod["spec"]["containers"]:
            resources = _PLUGINS.get(_repository_name(container.get("image") or ""))
            if resources:
                found.setdefault(node, set()).update(resources)
    return found


_ENDS_WITHOUT_DEVICES = {
    # https://github.com/aws/eks-charts/issues/1239, and the pods in
    # https://github.com/aws/eks-charts/pull/1363: restarted again and again, `Completed` each time
    "aws-efa-k8s-device-plugin": {"exitCode": 0, "reason": "Completed"},
    # https://github.com/NVIDIA/k8s-device-plugin/blob/main/README.md, `FAIL_ON_INIT_ERROR`
    "k8s-device-plugin": {"exitCode": 1, "reason": "Error"},
}
"""How a plugin ends on a node without its devices, by the image repository."""


def ended_without_devices(
    pods: Iterable[Mapping[str, Any]], devices: Mapping[str, Mapping[str, int]]
) -> Iterator[tuple[Mapping[str, Any], dict[str, Any]]]:
    """Yield the running pods of plugins that find no device, with the status that they get.

    Args:
        pods: Pods as the API server lists them.
        devices: Number of devices by resource, by node name.
    """
    for pod in pods:
        counts = devices.get(pod["spec"].get("nodeName") or "")
        if counts is None or not _ready(pod):
            continue
        for container in pod["spec"]["containers"]:
            plugin = _repository_name(container.get("image") or "")
            ended = _ENDS_WITHOUT_DEVICES.get(plugin)
            if ended and not any(counts.get(each) for each in _PLUGINS[plugin]):
                yield pod, _crashed(pod, ended)


def _ready(pod: Mapping[str, Any]) -> bool:
    status = pod.get("status") or {}
    not_ready = any(
        each["type"] == "Ready" and each["status"] == "False"
        for each in status.get("conditions") or []
    )
    running = status.get("phase") == "Running" and not not_ready
    return running and "deletionTimestamp" not in pod["metadata"]


def _repository_name(image: str) -> str:
    """Return `k8s-device-plugin` for `nvcr.io/nvidia/k8s-device-plugin:v0.17.0`."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0]


# Device plugins that crash because of a scheduled fault: their pods restart repeatedly.
#
# kwok does not run these pods meanwhile, and this module writes the status that a kubelet would
# write. When the fault ends, the pods are recreated, as after `kubectl rollout restart`.


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


_FAILED = {"exitCode": 1, "reason": "Error"}


def _crashed(
    pod: Mapping[str, Any], ended: Mapping[str, Any] = MappingProxyType(_FAILED)
) -> dict[str, Any]:
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
                "lastState": {"terminated": dict(ended)},
            }
            for each in pod["spec"]["containers"]
        ],
    }

"""The extended resources of a node, according to the device plugins that run on it.

A kubelet does not know GPUs or EFA devices until a plugin registers them over a socket on the node.
A resource therefore appears when the plugin's pod runs, and disappears when it stops.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trainyard.sandbox.instance_types import InstanceType

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

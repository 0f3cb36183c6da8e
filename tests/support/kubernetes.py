"""Kubernetes for tests: versions relative to the default, and objects."""

from __future__ import annotations

from typing import Any, Literal

from trainyard.components.catalog.neuron import NEURON_DEVICE_PLUGIN_IMAGE
from trainyard.components.catalog.versions import (
    DEFAULT_KUBERNETES_VERSION,
    EKS_VERSIONS,
    minor_number,
)

DEFAULT = DEFAULT_KUBERNETES_VERSION


def minor(steps: int) -> str:
    """Return the minor version that many steps after the default, or before it if negative."""
    return f"1.{minor_number(DEFAULT) + steps}"


PREVIOUS = minor(-1)
"""The version from which a cluster is upgraded."""
OLDEST = min(EKS_VERSIONS, key=minor_number)
"""The oldest version that is pinned."""
TOO_OLD = f"1.{minor_number(OLDEST) - 1}"
"""The newest version that is no longer pinned."""


_IMAGES = {
    "nvidia": "nvcr.io/nvidia/k8s-device-plugin:v0.17.0",
    "efa": "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-efa-k8s-device-plugin:v0.5.31",
    "neuron": NEURON_DEVICE_PLUGIN_IMAGE,
}


def device_plugin(kind: Literal["nvidia", "efa", "neuron"]) -> dict[str, Any]:
    """Return a device plugin's DaemonSet, with only the fields that place its pods."""
    labels = {"name": f"{kind}-device-plugin"}
    mount = {"name": "device-plugin", "mountPath": "/var/lib/kubelet/device-plugins"}
    volume = {"name": mount["name"], "hostPath": {"path": mount["mountPath"]}}
    container = {"name": "plugin", "image": _IMAGES[kind], "volumeMounts": [mount]}
    spec = {
        "priorityClassName": "system-node-critical",
        "tolerations": [{"operator": "Exists"}],
        "containers": [container],
        "volumes": [volume],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": labels["name"], "namespace": "kube-system"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def training_pod(name: str, *, gpus: int, efa: int = 0) -> dict[str, Any]:
    """Return a pod of the default namespace that requests GPUs and EFA devices."""
    limits = {"nvidia.com/gpu": str(gpus)}
    if efa:
        limits["vpc.amazonaws.com/efa"] = str(efa)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            "containers": [{"name": "train", "image": "pytorch:2", "resources": {"limits": limits}}]
        },
    }

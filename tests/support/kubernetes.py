"""Kubernetes objects that tests create."""

from __future__ import annotations

from typing import Any, Literal

from components.catalog.neuron import NEURON_DEVICE_PLUGIN_IMAGE

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

"""Steps that create objects of a cluster, and a cluster that has some of them."""

from __future__ import annotations

from typing import Any

from tests.support.steps import event
from tools.changes.steps import Step, steps_of_events

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
STACK = "urn:pulumi:p5-cb::trainyard"
PARENT = f"{STACK}::trainyard:runtime:NvidiaDevicePlugin::p5-cb-plugins-nvidia"
URN = f"{STACK}::trainyard:runtime:NvidiaDevicePlugin${DAEMON_SET}::p5-cb-plugins-nvidia-daemon-set"
PROVIDER = f"{STACK}::pulumi:providers:kubernetes::p5-cb-kubernetes"
PLUGIN = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "nvidia-device-plugin-daemonset", "namespace": "kube-system"},
}
CLUSTER = "aws:eks/cluster:Cluster"


def created(inputs: dict[str, Any], urn: str = URN, type_: str = DAEMON_SET) -> str:
    new = {"inputs": inputs, "parent": PARENT, "provider": f"{PROVIDER}::0c5d"}
    return event("create", urn, type_, new=new)


def steps(*lines: str) -> tuple[Step, ...]:
    return steps_of_events(lines)


API = {
    "/apis/apps/v1": {
        "resources": [
            {"name": "daemonsets", "kind": "DaemonSet", "namespaced": True},
            {"name": "daemonsets/status", "kind": "DaemonSet", "namespaced": True},
        ]
    },
    "/api/v1": {
        "resources": [
            {"name": "persistentvolumes", "kind": "PersistentVolume", "namespaced": False}
        ]
    },
    "/apis/apps/v1/namespaces/kube-system/daemonsets/nvidia-device-plugin-daemonset": {"kind": "x"},
    "/api/v1/persistentvolumes/data": {"kind": "x"},
}

"""DCGM exporter: utilization, memory, power, temperature, Xid errors and NVLink of NVIDIA GPUs.

Source: https://github.com/NVIDIA/dcgm-exporter, the chart `deployment` in the pinned version,
rendered with its default values, without its Service and its service account, which nothing uses,
and with the counters of the image (`etc/default-counters.csv`) instead of those of a ConfigMap.
"""

from __future__ import annotations

from components.eks.addons.addon import (
    AddonTarget,
    SelfManagedAddon,
    has_accelerators,
    sends_to_prometheus,
)
from components.eks.addons.node_selection import (
    EXPORTER,
    NVIDIA_GPU,
    exporter_port,
    instance_type_affinity,
    tolerations,
)
from components.runtime.workload_plan import Manifest, WorkloadPlan, daemon_set

IMAGE = "nvcr.io/nvidia/k8s/dcgm-exporter:4.5.3-4.8.2-distroless"
NAME = "dcgm-exporter"
SELECTOR = {"app.kubernetes.io/name": NAME}
"""Selector of the DaemonSet; immutable."""
PORT = 9400
POD_RESOURCES = "/var/lib/kubelet/pod-resources"
"""Where the kubelet tells which pod has a GPU."""
START_SECONDS = 45


def workloads(target: AddonTarget) -> list[WorkloadPlan]:
    """Return the DaemonSet `kube-system/dcgm-exporter`, on nodes with NVIDIA GPUs."""
    made = daemon_set(
        NAME,
        _pod(target),
        selector=SELECTOR,
        labels=EXPORTER,
        pod_labels=EXPORTER,
        rolling_update={"maxUnavailable": 1, "maxSurge": 0},
    )
    return [WorkloadPlan(controller=made)]


def _pod(target: AddonTarget) -> Manifest:
    probe = {"httpGet": {"path": "/health", "port": PORT}, "initialDelaySeconds": START_SECONDS}
    return {
        "automountServiceAccountToken": False,
        "priorityClassName": "system-node-critical",
        "affinity": instance_type_affinity(target.instance_types),
        "tolerations": tolerations([NVIDIA_GPU], target.taints),
        "containers": [
            {
                "name": "exporter",
                "image": IMAGE,
                "imagePullPolicy": "IfNotPresent",
                "args": ["-f", "/etc/dcgm-exporter/default-counters.csv"],
                "env": [
                    {"name": "DCGM_EXPORTER_KUBERNETES", "value": "true"},
                    {"name": "DCGM_EXPORTER_LISTEN", "value": f":{PORT}"},
                    {
                        "name": "NODE_NAME",
                        "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}},
                    },
                ],
                "ports": [exporter_port(PORT)],
                "securityContext": {
                    "runAsNonRoot": False,
                    "runAsUser": 0,
                    # The profiling metrics (`DCGM_FI_PROF_*`) need it.
                    "capabilities": {"add": ["SYS_ADMIN"], "drop": ["ALL"]},
                    "allowPrivilegeEscalation": False,
                },
                "livenessProbe": {**probe, "periodSeconds": 5},
                "readinessProbe": probe,
                "resources": {
                    "limits": {"cpu": "200m", "memory": "512Mi"},
                    "requests": {"cpu": "100m", "memory": "128Mi"},
                },
                "volumeMounts": [
                    {"name": "pod-gpu-resources", "mountPath": POD_RESOURCES, "readOnly": True}
                ],
            }
        ],
        "volumes": [{"name": "pod-gpu-resources", "hostPath": {"path": POD_RESOURCES}}],
    }


DCGM_EXPORTER = SelfManagedAddon(
    name="dcgm-exporter",
    component="DcgmExporter",
    serves=has_accelerators("nvidia"),
    enabled=sends_to_prometheus,
    workloads=workloads,
    public_image="DCGM exporter",
    daemon_set=NAME,
)

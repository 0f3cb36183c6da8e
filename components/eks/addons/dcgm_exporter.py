"""DCGM exporter: utilization, memory, power, temperature, Xid errors and NVLink of NVIDIA GPUs.

Source: https://github.com/NVIDIA/dcgm-exporter, the chart `deployment` in the pinned version,
rendered with its default values, without its Service and its service account, which nothing uses,
and with the counters of the image (`etc/default-counters.csv`) instead of those of a ConfigMap.
`README.md` of the same release runs it with the filter of system calls of Docker and `SYS_ADMIN`.
"""

from __future__ import annotations

from trainyard.components.catalog.image_digests import by_content
from trainyard.components.eks.addons.addon import has_accelerators
from trainyard.components.eks.addons.exporter import device_exporter
from trainyard.components.eks.addons.node_selection import NVIDIA_GPU

IMAGE = "nvcr.io/nvidia/k8s/dcgm-exporter:4.5.3-4.8.2-distroless"
PORT = 9400
POD_RESOURCES = "/var/lib/kubelet/pod-resources"
"""Where the kubelet tells which pod has a GPU."""
START_SECONDS = 45
_PROBE = {"httpGet": {"path": "/health", "port": PORT}, "initialDelaySeconds": START_SECONDS}

DCGM_EXPORTER = device_exporter(
    "dcgm-exporter",
    "DcgmExporter",
    public_image="DCGM exporter",
    serves=has_accelerators("nvidia"),
    toleration=NVIDIA_GPU,
    port=PORT,
    container={
        "name": "exporter",
        "image": by_content(IMAGE),
        "args": ["-f", "/etc/dcgm-exporter/default-counters.csv"],
        "env": [
            {"name": "DCGM_EXPORTER_KUBERNETES", "value": "true"},
            {"name": "DCGM_EXPORTER_LISTEN", "value": f":{PORT}"},
            {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        ],
        "securityContext": {
            "runAsNonRoot": False,
            "runAsUser": 0,
            # The profiling metrics (`DCGM_FI_PROF_*`) need it.
            "capabilities": {"add": ["SYS_ADMIN"], "drop": ["ALL"]},
            "allowPrivilegeEscalation": False,
        },
        "livenessProbe": {**_PROBE, "periodSeconds": 5},
        "readinessProbe": _PROBE,
        "resources": {
            "limits": {"cpu": "200m", "memory": "512Mi"},
            "requests": {"cpu": "100m", "memory": "128Mi"},
        },
        "volumeMounts": [
            {"name": "pod-gpu-resources", "mountPath": POD_RESOURCES, "readOnly": True}
        ],
    },
    rolling_update={"maxUnavailable": 1, "maxSurge": 0},
    pod_fields={
        "priorityClassName": "system-node-critical",
        "volumes": [{"name": "pod-gpu-resources", "hostPath": {"path": POD_RESOURCES}}],
    },
)
"""The DaemonSet `kube-system/dcgm-exporter`, on nodes with NVIDIA GPUs."""

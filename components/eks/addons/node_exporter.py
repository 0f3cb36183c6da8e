"""The node exporter of Prometheus: CPU, memory, disks and network interfaces of every node.

Source: https://github.com/prometheus-community/helm-charts, the chart of the pinned version,
rendered with its default values, without its Service and its service account, which nothing uses.
`README.md` of the pinned release of https://github.com/prometheus/node_exporter runs it with the
filter of system calls of Docker. That of containerd allows `adjtimex`, which the collector `timex`
calls, since 1.5. A process of another user than root has no capabilities that it could use:
https://man7.org/linux/man-pages/man7/capabilities.7.html
"""

from __future__ import annotations

from trainyard.components.catalog.image_digests import by_content
from trainyard.components.eks.addons.exporter import exporter, exporter_daemon_set, exporter_port
from trainyard.components.runtime.workload_plan import UNPRIVILEGED, Manifest

CHART = "ghcr.io/prometheus-community/charts/prometheus-node-exporter:4.56.1"
IMAGE = "quay.io/prometheus/node-exporter:v1.12.1"
NAME = "prometheus-node-exporter"
PORT = 9100
NOBODY = 65534
PATHS = {"proc": "/proc", "sys": "/sys", "root": "/"}
"""Directories of the node, by volume; each is mounted below `/host`."""


def _pod() -> Manifest:
    probe = {"httpGet": {"path": "/", "port": PORT}}
    return {
        "securityContext": {
            "fsGroup": NOBODY,
            "runAsGroup": NOBODY,
            "runAsNonRoot": True,
            "runAsUser": NOBODY,
        },
        "containers": [
            {
                "name": "node-exporter",
                "image": by_content(IMAGE),
                "imagePullPolicy": "IfNotPresent",
                "args": [
                    "--path.procfs=/host/proc",
                    "--path.sysfs=/host/sys",
                    "--path.rootfs=/host/root",
                    "--path.udev.data=/host/root/run/udev/data",
                    f"--web.listen-address=0.0.0.0:{PORT}",
                ],
                "securityContext": {**UNPRIVILEGED, "readOnlyRootFilesystem": True},
                "ports": [exporter_port(PORT)],
                "livenessProbe": probe,
                "readinessProbe": probe,
                "volumeMounts": [_mount(name) for name in PATHS],
            }
        ],
        "hostNetwork": True,
        "hostPID": True,
        "nodeSelector": {"kubernetes.io/os": "linux"},
        # Unlike the chart, also nodes that are drained: they are measured until they leave.
        "tolerations": [{"operator": "Exists"}],
        "volumes": [{"name": name, "hostPath": {"path": path}} for name, path in PATHS.items()],
    }


def _mount(name: str) -> Manifest:
    mount = {"name": name, "mountPath": f"/host/{name}", "readOnly": True}
    # File systems that the node mounts later are seen too.
    return {**mount, "mountPropagation": "HostToContainer"} if name == "root" else mount


NODE_EXPORTER = exporter(
    "node-exporter",
    "NodeExporter",
    lambda _: exporter_daemon_set(NAME, _pod()),
    public_image="node exporter",
    daemon_set_name=NAME,
)
"""The DaemonSet `kube-system/prometheus-node-exporter`, on every node."""

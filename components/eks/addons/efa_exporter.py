"""EFA exporter: the counters of the EFA driver, for each device.

Node exporter does not read them (https://github.com/prometheus/node_exporter/pull/3670). AWS has a
fork that does, `4.validation_and_observability/3.efa-node-exporter` of
https://github.com/awslabs/awsome-distributed-ai; its documents name the image with the tag `latest`
alone, and each build of its `buildspec.yaml` overwrites the tag that it derives from the versions
of node exporter and procfs. So a shell in the image of node exporter writes the counters to a file
that node exporter serves. The names of metrics and labels are those of the fork, which AWS's
dashboards use.

Sources:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-working-monitor.html: the counters,
        which are totals, and where they are
    https://github.com/prometheus/node_exporter of the pinned version: `README.md` (textfile
        collector, and how to replace a file while it is read) and `Dockerfile` (an image with
        busybox)
    https://github.com/awslabs/awsome-distributed-ai, `amazon_efa_linux.go` of the fork
"""

from __future__ import annotations

from trainyard.components.catalog.image_digests import by_content
from trainyard.components.eks.addons.exporter import device_exporter
from trainyard.components.eks.addons.node_exporter import IMAGE, NOBODY, PORT
from trainyard.components.eks.addons.node_selection import NVIDIA_GPU
from trainyard.components.runtime.workload_plan import UNPRIVILEGED

NAME = "efa-exporter"
PREFIX = "node_amazonefa_"
"""Before the name of a counter."""
SYSFS = "/host/sys"
"""The node's, because a pod's own has no counters outside the network namespace of the node."""
METRICS = "/metrics"
SECONDS = 30
"""Time between two readings: half the time between two reads of the collector."""
WRITE = f"""\
while :; do
  for file in {SYSFS}/class/infiniband/*/ports/*/hw_counters/*; do
    read -r value 2>/dev/null < "$file" || continue
    port=${{file%/hw_counters/*}}
    device=${{port%/ports/*}}
    echo "{PREFIX}${{file##*/}}{{device=\\"${{device##*/}}\\",port=\\"${{port##*/}}\\"}} $value"
  done > {METRICS}/efa.new
  mv {METRICS}/efa.new {METRICS}/efa.prom
  sleep {SECONDS}
done
"""
"""POSIX shell script that writes the counters in the text format of Prometheus."""
_PROBE = {"httpGet": {"path": "/", "port": PORT}}
_FILE = {"name": "metrics", "mountPath": METRICS}
_ALWAYS = {
    "image": by_content(IMAGE),
    "securityContext": {**UNPRIVILEGED, "readOnlyRootFilesystem": True},
}

EFA_EXPORTER = device_exporter(
    NAME,
    "EfaExporter",
    public_image="EFA exporter",
    serves=lambda group: group.interfaces is not None,
    toleration=NVIDIA_GPU,
    port=PORT,
    container={
        **_ALWAYS,
        "name": "exporter",
        "args": [
            "--collector.disable-defaults",
            "--collector.textfile",
            f"--collector.textfile.directory={METRICS}",
            "--web.disable-exporter-metrics",
            f"--web.listen-address=:{PORT}",
        ],
        "livenessProbe": _PROBE,
        "readinessProbe": _PROBE,
        "volumeMounts": [{**_FILE, "readOnly": True}],
    },
    sidecars=[
        {
            **_ALWAYS,
            "name": "writer",
            "imagePullPolicy": "IfNotPresent",
            "command": ["/bin/sh", "-c", WRITE],
            "volumeMounts": [_FILE, {"name": "sys", "mountPath": SYSFS, "readOnly": True}],
        }
    ],
    pod_fields={
        "securityContext": {
            "runAsGroup": NOBODY,
            "runAsNonRoot": True,
            "runAsUser": NOBODY,
        },
        "volumes": [
            {"name": "metrics", "emptyDir": {"medium": "Memory"}},
            {"name": "sys", "hostPath": {"path": "/sys"}},
        ],
    },
)
"""The DaemonSet `kube-system/efa-exporter`, on nodes with EFA."""

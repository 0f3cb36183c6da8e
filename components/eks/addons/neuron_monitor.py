"""Neuron monitor: use of NeuronCores, memory and ECC events of Neuron devices.

Source: https://github.com/aws-neuron/aws-neuron-sdk, `src/k8/k8s-neuron-monitor-daemonset.yml`, on
the nodes of the stack instead of its list of instance types;
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/tutorials/k8s-neuron-monitor.html
"""

from __future__ import annotations

from trainyard.components.catalog.image_digests import by_content
from trainyard.components.eks.addons.addon import has_accelerators
from trainyard.components.eks.addons.exporter import device_exporter
from trainyard.components.eks.addons.neuron_device_plugin import NEURON

IMAGE = "public.ecr.aws/neuron/neuron-monitor:1.3.0"
NAME = "neuron-monitor"
PORT = 8000

NEURON_MONITOR = device_exporter(
    NAME,
    "NeuronMonitor",
    public_image="Neuron monitor",
    serves=has_accelerators("neuron"),
    toleration=NEURON,
    port=PORT,
    # Privileged containers run without a filter of system calls.
    seccomp=False,
    container={
        "name": NAME,
        "image": by_content(IMAGE),
        "command": ["/opt/bin/entrypoint.sh"],
        "args": [
            *("--port", str(PORT)),
            *("--neuron-monitor-config", "/opt/aws/neuron/bin/neuron-monitor.conf"),
        ],
        "env": [{"name": "GOMEMLIMIT", "value": "160MiB"}],
        "resources": {
            "limits": {"cpu": "500m", "memory": "256Mi"},
            "requests": {"cpu": "256m", "memory": "128Mi"},
        },
        # It reads the devices of the node without asking for them.
        "securityContext": {"privileged": True},
    },
)
"""The DaemonSet `kube-system/neuron-monitor`, on nodes with Neuron devices."""

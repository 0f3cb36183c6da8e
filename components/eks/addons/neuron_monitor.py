"""Neuron monitor: use of NeuronCores, memory and ECC events of Neuron devices.

Source: https://github.com/aws-neuron/aws-neuron-sdk, `src/k8/k8s-neuron-monitor-daemonset.yml`, on
the nodes of the stack instead of its list of instance types;
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/tutorials/k8s-neuron-monitor.html
"""

from __future__ import annotations

from components.eks.addons.addon import (
    AddonTarget,
    SelfManagedAddon,
    has_accelerators,
    sends_to_prometheus,
)
from components.eks.addons.neuron_device_plugin import NEURON
from components.eks.addons.node_selection import (
    EXPORTER,
    exporter_port,
    instance_type_affinity,
    tolerations,
)
from components.runtime.workload_plan import Manifest, WorkloadPlan, daemon_set

IMAGE = "public.ecr.aws/neuron/neuron-monitor:1.3.0"
NAME = "neuron-monitor"
SELECTOR = {"app.kubernetes.io/name": NAME}
"""Selector of the DaemonSet; immutable."""
PORT = 8000


def workloads(target: AddonTarget) -> list[WorkloadPlan]:
    """Return the DaemonSet `kube-system/neuron-monitor`, on nodes with Neuron devices."""
    made = daemon_set(NAME, _pod(target), selector=SELECTOR, labels=EXPORTER, pod_labels=EXPORTER)
    return [WorkloadPlan(controller=made)]


def _pod(target: AddonTarget) -> Manifest:
    return {
        "automountServiceAccountToken": False,
        "affinity": instance_type_affinity(target.instance_types),
        "tolerations": tolerations([NEURON], target.taints),
        "containers": [
            {
                "name": NAME,
                "image": IMAGE,
                "imagePullPolicy": "IfNotPresent",
                "command": ["/opt/bin/entrypoint.sh"],
                "args": [
                    *("--port", str(PORT)),
                    *("--neuron-monitor-config", "/opt/aws/neuron/bin/neuron-monitor.conf"),
                ],
                "env": [{"name": "GOMEMLIMIT", "value": "160MiB"}],
                "ports": [exporter_port(PORT)],
                "resources": {
                    "limits": {"cpu": "500m", "memory": "256Mi"},
                    "requests": {"cpu": "256m", "memory": "128Mi"},
                },
                # It reads the devices of the node without asking for them.
                "securityContext": {"privileged": True},
            }
        ],
    }


NEURON_MONITOR = SelfManagedAddon(
    name="neuron-monitor",
    component="NeuronMonitor",
    serves=has_accelerators("neuron"),
    enabled=sends_to_prometheus,
    workloads=workloads,
    public_image="Neuron monitor",
    daemon_set=NAME,
)

"""The Neuron device plugin, which provides Trainium and Inferentia devices to pods.

It registers devices (`aws.amazon.com/neuron`) and cores (`aws.amazon.com/neuroncore`).

Source: https://github.com/aws-neuron/neuron-helm-charts, `device-plugin-*.yaml` of the version
that `trainyard.components.catalog.neuron` pins, rendered with its default values;
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/kubernetes-getting-started.html
"""

from __future__ import annotations

from trainyard.components.catalog.image_digests import by_content
from trainyard.components.catalog.instance_types import InstanceType
from trainyard.components.catalog.neuron import (
    NEURON_CHART_VERSION,
    NEURON_CORE,
    NEURON_DEVICE,
    NEURON_DEVICE_PLUGIN_IMAGE,
    NEURON_PLUGIN_INSTANCE_TYPES,
    NEURON_VERSION,
)
from trainyard.components.config.problems import Review
from trainyard.components.eks.addons.addon import AddonTarget, SelfManagedAddon, has_accelerators
from trainyard.components.eks.addons.node_selection import (
    CRITICAL_ADDONS_ONLY,
    instance_type_affinity,
    tolerations,
)
from trainyard.components.runtime.workload_plan import (
    UNPRIVILEGED,
    Manifest,
    Rule,
    ServiceAccountPlan,
    WorkloadPlan,
    daemon_set,
)

PLUGIN = "neuron-device-plugin"
SELECTOR = {"name": f"{PLUGIN}-ds"}
LABELS = {
    "helm.sh/chart": f"neuron-helm-chart-{NEURON_CHART_VERSION}",
    "app.kubernetes.io/name": PLUGIN,
    "app.kubernetes.io/version": NEURON_CHART_VERSION,
    "app.kubernetes.io/managed-by": "pulumi",
}
NEURON = {"key": NEURON_DEVICE, "operator": "Exists", "effect": "NoSchedule"}
MOUNTS = (
    {"name": "device-plugin", "mountPath": "/var/lib/kubelet/device-plugins"},
    {"name": "infa-map", "mountPath": "/run"},
    {"name": "aws-config", "mountPath": "/opt/aws", "readOnly": True},
)
"""Volumes with paths of the node, mounted at the same path."""
RULES: tuple[Rule, ...] = (
    ("", ["nodes"], ["get", "list", "watch"]),
    ("", ["events"], ["create", "patch"]),
    ("", ["pods"], ["update", "patch", "get", "list", "watch"]),
    ("", ["nodes/status"], ["patch", "update"]),
)


def review_accelerators(review: Review, key: str, instance_type: InstanceType) -> None:
    """Refuse a type with Neuron devices that the pinned Neuron device plugin does not support."""
    accelerators = instance_type.accelerators
    if accelerators is None or accelerators.manufacturer != "neuron":
        return
    if instance_type.name not in NEURON_PLUGIN_INSTANCE_TYPES:
        review.refuse(
            f"{key}.instance_type",
            (
                "is not in the list of types that the Neuron device plugin "
                f"{NEURON_VERSION} runs on; pods would get no Neuron device"
            ),
            found=instance_type.name,
            allowed=", ".join(NEURON_PLUGIN_INSTANCE_TYPES),
            remedy="choose a type of the list",
        )


def workloads(target: AddonTarget) -> list[WorkloadPlan]:
    """Return the DaemonSet `kube-system/neuron-device-plugin`, with its RBAC permissions.

    As in the chart, with additional tolerations for the taints of the node groups. The plan refuses
    instance types that are not in the list of the chart.
    """
    # Its source is not public, and nothing says that it runs with a filter of system calls.
    made = daemon_set(
        PLUGIN, _pod(target), selector=SELECTOR, calls_api=True, seccomp=False, labels=LABELS
    )
    account = ServiceAccountPlan(name=PLUGIN, rules=RULES, labels=LABELS)
    return [WorkloadPlan(controller=made, account=account)]


def _pod(target: AddonTarget) -> Manifest:
    node_name = {"fieldRef": {"fieldPath": "spec.nodeName"}}
    return {
        "tolerations": tolerations([CRITICAL_ADDONS_ONLY, NEURON], target.taints),
        "affinity": instance_type_affinity(NEURON_PLUGIN_INSTANCE_TYPES),
        "priorityClassName": "system-node-critical",
        "containers": [
            {
                "name": PLUGIN,
                "image": by_content(NEURON_DEVICE_PLUGIN_IMAGE),
                "imagePullPolicy": "IfNotPresent",
                "env": [
                    {"name": "KUBECONFIG", "value": "/etc/kubernetes/kubelet.conf"},
                    {"name": "NODE_NAME", "valueFrom": node_name},
                ],
                "securityContext": UNPRIVILEGED,
                "volumeMounts": [*MOUNTS],
            }
        ],
        "volumes": [
            {"name": mount["name"], "hostPath": {"path": mount["mountPath"]}} for mount in MOUNTS
        ],
    }


NEURON_DEVICE_PLUGIN = SelfManagedAddon(
    name="neuron",
    component="NeuronDevicePlugin",
    parent="plugins",
    serves=has_accelerators("neuron"),
    workloads=workloads,
    public_image="neuron device plugin",
    daemon_set=PLUGIN,
    devices=(NEURON_DEVICE, NEURON_CORE),
)

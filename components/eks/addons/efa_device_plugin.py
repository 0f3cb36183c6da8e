"""The EFA device plugin, which provides the resource `vpc.amazonaws.com/efa` to pods.

Source: https://github.com/aws/eks-charts, `stable/aws-efa-k8s-device-plugin` of the version that
`trainyard.components.catalog.efa` pins, rendered with its default values.
"""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.components.catalog.efa import (
    EFA_DEVICE_PLUGIN_CHART_VERSION,
    EFA_DEVICE_PLUGIN_VERSION,
    EFA_PLUGIN_INSTANCE_TYPES,
    efa_device_plugin_image,
)
from trainyard.components.config.problems import Review
from trainyard.components.eks.addons.addon import AddonTarget, SelfManagedAddon
from trainyard.components.eks.addons.node_selection import (
    CRITICAL_ADDONS_ONLY,
    NVIDIA_GPU,
    instance_type_affinity,
    tolerations,
)
from trainyard.components.runtime.workload_plan import Manifest, WorkloadPlan, daemon_set

CHART = "aws-efa-k8s-device-plugin"
SELECTOR = {"name": CHART}
LABELS = {
    "helm.sh/chart": f"{CHART}-{EFA_DEVICE_PLUGIN_CHART_VERSION}",
    "app.kubernetes.io/name": CHART,
    "app.kubernetes.io/instance": CHART,
    "app.kubernetes.io/version": EFA_DEVICE_PLUGIN_VERSION,
    "app.kubernetes.io/managed-by": "pulumi",
}
HOST_PATHS = {
    "device-plugin": {"path": "/var/lib/kubelet/device-plugins"},
    "infiniband-volume": {"path": "/dev/infiniband/"},
    "neuron-tools": {"path": "/opt/aws/neuron/", "type": "DirectoryOrCreate"},
}
"""`hostPath` by volume, mounted at the same path."""


def review_efa_plugin(review: Review, key: str, instance_type: str) -> None:
    """Refuse a type with EFA that the pinned EFA device plugin does not support."""
    if instance_type not in EFA_PLUGIN_INSTANCE_TYPES:
        review.refuse(
            f"{key}.instance_type",
            (
                "is not in the list of types that the EFA device plugin "
                f"{EFA_DEVICE_PLUGIN_CHART_VERSION} runs on; pods would get no EFA device and "
                "communicate over TCP"
            ),
            found=instance_type,
            remedy="choose a type of the list, or set `efa_enabled: false`",
            rules=("A19",),
        )


def workloads(target: AddonTarget) -> list[WorkloadPlan]:
    """Return the DaemonSet `kube-system/aws-efa-k8s-device-plugin`.

    As in the chart, with additional tolerations: `nvidia.com/gpu` and the taints of the node
    groups. It stays off nodes of the stack that have no EFA interfaces. The plan refuses instance
    types that are not in the list of the chart, because their nodes would lack EFA without any
    error.
    """
    # Privileged containers run without a filter of system calls.
    made = daemon_set(
        CHART, _pod(target), selector=SELECTOR, calls_api=False, seccomp=False, labels=LABELS
    )
    return [WorkloadPlan(controller=made)]


def _pod(target: AddonTarget) -> Manifest:
    return {
        "tolerations": tolerations([CRITICAL_ADDONS_ONLY, NVIDIA_GPU], target.taints),
        "affinity": instance_type_affinity(_types(target), target.other_types),
        "priorityClassName": "system-node-critical",
        "hostNetwork": True,
        "containers": [
            {
                "name": CHART,
                "image": efa_device_plugin_image(target.region),
                "securityContext": {
                    "allowPrivilegeEscalation": True,
                    "privileged": True,
                    "runAsNonRoot": False,
                    "runAsUser": 0,
                },
                "resources": {"requests": {"cpu": "10m", "memory": "20Mi"}},
                "volumeMounts": [
                    {"name": volume, "mountPath": host["path"]}
                    for volume, host in HOST_PATHS.items()
                ],
            }
        ],
        "volumes": [{"name": volume, "hostPath": host} for volume, host in HOST_PATHS.items()],
    }


def _types(target: AddonTarget) -> Sequence[str]:
    """Return the types of the chart, unless the stack has nodes of one of them without EFA.

    There the plugin ends with "No valid EFA devices found", and is started again and again:
    https://github.com/aws/eks-charts/issues/1239.
    """
    if target.other_types & set(EFA_PLUGIN_INSTANCE_TYPES):
        return target.instance_types
    return EFA_PLUGIN_INSTANCE_TYPES


EFA_DEVICE_PLUGIN = SelfManagedAddon(
    name="efa",
    component="EfaDevicePlugin",
    parent="plugins",
    serves=lambda group: group.interfaces is not None,
    enabled=lambda config: config.architecture.addons.efa_device_plugin,
    option="architecture.addons.efa_device_plugin",
    workloads=workloads,
    daemon_set=CHART,
    devices=("vpc.amazonaws.com/efa",),
)

"""The NVIDIA device plugin, which provides the resource `nvidia.com/gpu` to pods.

Sources, in the pinned release of https://github.com/NVIDIA/k8s-device-plugin:
    `deployments/static/nvidia-device-plugin.yml`: the DaemonSet
    `README.md`: "With Docker" runs the plugin with the filter of system calls of Docker, without
        capabilities and without a network, so it does not call the Kubernetes API
    https://github.com/NVIDIA/k8s-device-plugin/issues/313: containers that use GPUs keep running
        while the plugin stops and starts
"""

from __future__ import annotations

from trainyard.components.catalog.image_digests import by_content
from trainyard.components.eks.addons.addon import AddonTarget, SelfManagedAddon, has_accelerators
from trainyard.components.eks.addons.node_selection import (
    NVIDIA_GPU,
    instance_type_affinity,
    tolerations,
)
from trainyard.components.runtime.workload_plan import (
    UNPRIVILEGED,
    Manifest,
    WorkloadPlan,
    daemon_set,
)

IMAGE = "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"
DAEMON_SET = "nvidia-device-plugin-daemonset"
SELECTOR = {"name": "nvidia-device-plugin-ds"}
PLUGIN_DIRECTORY = "/var/lib/kubelet/device-plugins"


def workloads(target: AddonTarget) -> list[WorkloadPlan]:
    """Return the DaemonSet `kube-system/nvidia-device-plugin-daemonset`.

    The manifest of NVIDIA with three additions: it tolerates the taints of the node groups, it
    runs only on their instance types, and it has no token and a filter of system calls. On nodes
    without GPUs the plugin exits with an error, so the DaemonSet would never become available.
    """
    made = daemon_set(DAEMON_SET, _pod(target), selector=SELECTOR, calls_api=False)
    return [WorkloadPlan(controller=made)]


def _pod(target: AddonTarget) -> Manifest:
    return {
        "tolerations": tolerations([NVIDIA_GPU], target.taints),
        "affinity": instance_type_affinity(target.instance_types),
        "priorityClassName": "system-node-critical",
        "containers": [
            {
                "name": "nvidia-device-plugin-ctr",
                "image": by_content(IMAGE),
                "securityContext": UNPRIVILEGED,
                "volumeMounts": [
                    {"name": "kubelet-device-plugins-dir", "mountPath": PLUGIN_DIRECTORY}
                ],
            }
        ],
        "volumes": [
            {
                "name": "kubelet-device-plugins-dir",
                "hostPath": {"path": PLUGIN_DIRECTORY, "type": "Directory"},
            }
        ],
    }


NVIDIA_DEVICE_PLUGIN = SelfManagedAddon(
    name="nvidia",
    component="NvidiaDevicePlugin",
    parent="plugins",
    serves=has_accelerators("nvidia"),
    workloads=workloads,
    public_image="nvidia device plugin",
    daemon_set=DAEMON_SET,
    devices=("nvidia.com/gpu",),
)

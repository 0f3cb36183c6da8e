"""The NVIDIA device plugin, which provides the resource `nvidia.com/gpu` to pods.

Source: https://github.com/NVIDIA/k8s-device-plugin, `deployments/static/nvidia-device-plugin.yml`
of the pinned release; releases: https://github.com/NVIDIA/k8s-device-plugin/releases
"""

from __future__ import annotations

from components.catalog.image_digests import by_content
from components.eks.addons.addon import AddonTarget, SelfManagedAddon, has_accelerators
from components.eks.addons.node_selection import NVIDIA_GPU, instance_type_affinity, tolerations
from components.runtime.workload_plan import Manifest, WorkloadPlan, daemon_set

IMAGE = "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"
DAEMON_SET = "nvidia-device-plugin-daemonset"
SELECTOR = {"name": "nvidia-device-plugin-ds"}
PLUGIN_DIRECTORY = "/var/lib/kubelet/device-plugins"


def workloads(target: AddonTarget) -> list[WorkloadPlan]:
    """Return the DaemonSet `kube-system/nvidia-device-plugin-daemonset`.

    The manifest of NVIDIA with two additions: it tolerates the taints of the node groups, and it
    runs only on their instance types. On nodes without GPUs the plugin exits with an error, so the
    DaemonSet would never become available.
    """
    return [WorkloadPlan(controller=daemon_set(DAEMON_SET, _pod(target), selector=SELECTOR))]


def _pod(target: AddonTarget) -> Manifest:
    return {
        "tolerations": tolerations([NVIDIA_GPU], target.taints),
        "affinity": instance_type_affinity(target.instance_types),
        "priorityClassName": "system-node-critical",
        "containers": [
            {
                "name": "nvidia-device-plugin-ctr",
                "image": by_content(IMAGE),
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                },
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

"""The NVIDIA device plugin, which provides the resource `nvidia.com/gpu` to pods.

Source: https://github.com/NVIDIA/k8s-device-plugin, `deployments/static/nvidia-device-plugin.yml`
of the release that `components.catalog.versions` pins.
"""

from __future__ import annotations

import pulumi
from pulumi_kubernetes.core import v1 as core

from components.runtime.device_plugin import DevicePluginArgs, PluginDaemonSet
from components.runtime.node_selection import NVIDIA_GPU, instance_type_affinity, tolerations

SELECTOR = {"name": "nvidia-device-plugin-ds"}
PLUGIN_DIRECTORY = "/var/lib/kubelet/device-plugins"


class NvidiaDevicePlugin(pulumi.ComponentResource):
    """The DaemonSet `kube-system/nvidia-device-plugin-daemonset`.

    The manifest of NVIDIA with two additions: it tolerates the taints of the node groups, and it
    runs only on their instance types. On nodes without GPUs the plugin exits with an error, so the
    DaemonSet would never become available.

    Children: `<name>-daemon-set` (`apps.v1.DaemonSet`).
    """

    def __init__(
        self,
        name: str,
        args: DevicePluginArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:runtime:NvidiaDevicePlugin", name, {}, opts)
        daemon_set = PluginDaemonSet(name="nvidia-device-plugin-daemonset", selector=SELECTOR)
        daemon_set.register(f"{name}-daemon-set", _pod(args), args, self)
        self.register_outputs({})


def _pod(args: DevicePluginArgs) -> core.PodSpecArgs:
    return core.PodSpecArgs(
        tolerations=tolerations([NVIDIA_GPU], args.taints),
        affinity=instance_type_affinity(args.instance_types),
        priority_class_name="system-node-critical",
        containers=[
            core.ContainerArgs(
                name="nvidia-device-plugin-ctr",
                image=args.image,
                security_context=core.SecurityContextArgs(
                    allow_privilege_escalation=False,
                    capabilities=core.CapabilitiesArgs(drop=["ALL"]),
                ),
                volume_mounts=[
                    core.VolumeMountArgs(
                        name="kubelet-device-plugins-dir", mount_path=PLUGIN_DIRECTORY
                    )
                ],
            )
        ],
        volumes=[
            core.VolumeArgs(
                name="kubelet-device-plugins-dir",
                host_path=core.HostPathVolumeSourceArgs(path=PLUGIN_DIRECTORY, type="Directory"),
            )
        ],
    )

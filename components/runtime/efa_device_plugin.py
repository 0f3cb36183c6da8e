"""The EFA device plugin, which provides the resource `vpc.amazonaws.com/efa` to pods.

Source: https://github.com/aws/eks-charts, `stable/aws-efa-k8s-device-plugin` of the version that
`components.catalog.versions` pins, rendered with its default values.
"""

from __future__ import annotations

import pulumi
from pulumi_kubernetes.core import v1 as core

from components.catalog.efa_device_plugin import EFA_PLUGIN_INSTANCE_TYPES
from components.catalog.versions import (
    EFA_DEVICE_PLUGIN_CHART_VERSION,
    EFA_DEVICE_PLUGIN_VERSION,
)
from components.runtime.device_plugin import DevicePluginArgs, PluginDaemonSet
from components.runtime.node_selection import (
    CRITICAL_ADDONS_ONLY,
    NVIDIA_GPU,
    instance_type_affinity,
    tolerations,
)

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
    "device-plugin": ("/var/lib/kubelet/device-plugins", None),
    "infiniband-volume": ("/dev/infiniband/", None),
    "neuron-tools": ("/opt/aws/neuron/", "DirectoryOrCreate"),
}
"""Path on the node, mounted at the same path, and `hostPath` type, by volume."""


class EfaDevicePlugin(pulumi.ComponentResource):
    """The DaemonSet `kube-system/aws-efa-k8s-device-plugin`.

    As in the chart, with additional tolerations: `nvidia.com/gpu` and the taints of the node
    groups. The plan refuses instance types that are not in the list of the chart, because their
    nodes would lack EFA without any error.

    Children: `<name>-daemon-set` (`apps.v1.DaemonSet`).
    """

    def __init__(
        self,
        name: str,
        args: DevicePluginArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:runtime:EfaDevicePlugin", name, {}, opts)
        daemon_set = PluginDaemonSet(name=CHART, selector=SELECTOR, labels=LABELS)
        daemon_set.register(f"{name}-daemon-set", _pod(args), args, self)
        self.register_outputs({})


def _pod(args: DevicePluginArgs) -> core.PodSpecArgs:
    return core.PodSpecArgs(
        automount_service_account_token=False,
        tolerations=tolerations([CRITICAL_ADDONS_ONLY, NVIDIA_GPU], args.taints),
        affinity=instance_type_affinity(EFA_PLUGIN_INSTANCE_TYPES),
        priority_class_name="system-node-critical",
        host_network=True,
        containers=[
            core.ContainerArgs(
                name=CHART,
                image=args.image,
                security_context=core.SecurityContextArgs(
                    allow_privilege_escalation=True,
                    privileged=True,
                    run_as_non_root=False,
                    run_as_user=0,
                ),
                resources=core.ResourceRequirementsArgs(requests={"cpu": "10m", "memory": "20Mi"}),
                volume_mounts=[
                    core.VolumeMountArgs(name=volume, mount_path=path)
                    for volume, (path, _) in HOST_PATHS.items()
                ],
            )
        ],
        volumes=[
            core.VolumeArgs(
                name=volume, host_path=core.HostPathVolumeSourceArgs(path=path, type=kind)
            )
            for volume, (path, kind) in HOST_PATHS.items()
        ],
    )

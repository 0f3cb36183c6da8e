"""The Neuron device plugin, which provides Trainium and Inferentia devices to pods.

It registers devices (`aws.amazon.com/neuron`) and cores (`aws.amazon.com/neuroncore`).

Source: https://github.com/aws-neuron/neuron-helm-charts, `device-plugin-*.yaml` of the version
that `components.catalog.neuron` pins, rendered with its default values;
https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/kubernetes-getting-started.html
"""

from __future__ import annotations

import pulumi
from pulumi_kubernetes.core import v1 as core
from pulumi_kubernetes.rbac import v1 as rbac

from components.catalog.neuron import (
    NEURON_CHART_VERSION,
    NEURON_PLUGIN_INSTANCE_TYPES,
)
from components.runtime.device_plugin import DevicePluginArgs, PluginDaemonSet
from components.runtime.node_selection import (
    CRITICAL_ADDONS_ONLY,
    instance_type_affinity,
    tolerations,
)
from components.runtime.service_account import ServiceAccountWithRoles, ServiceAccountWithRolesArgs

PLUGIN = "neuron-device-plugin"
SELECTOR = {"name": f"{PLUGIN}-ds"}
LABELS = {
    "helm.sh/chart": f"neuron-helm-chart-{NEURON_CHART_VERSION}",
    "app.kubernetes.io/name": PLUGIN,
    "app.kubernetes.io/version": NEURON_CHART_VERSION,
    "app.kubernetes.io/managed-by": "pulumi",
}
NEURON = core.TolerationArgs(key="aws.amazon.com/neuron", operator="Exists", effect="NoSchedule")
HOST_PATHS = {
    "device-plugin": ("/var/lib/kubelet/device-plugins", None),
    "infa-map": ("/run", None),
    "aws-config": ("/opt/aws", True),
}
"""Path on the node, mounted at the same path, and whether it is read-only, by volume."""
RULES = [
    rbac.PolicyRuleArgs(api_groups=[""], resources=["nodes"], verbs=["get", "list", "watch"]),
    rbac.PolicyRuleArgs(api_groups=[""], resources=["events"], verbs=["create", "patch"]),
    rbac.PolicyRuleArgs(
        api_groups=[""], resources=["pods"], verbs=["update", "patch", "get", "list", "watch"]
    ),
    rbac.PolicyRuleArgs(api_groups=[""], resources=["nodes/status"], verbs=["patch", "update"]),
]


class NeuronDevicePlugin(pulumi.ComponentResource):
    """The DaemonSet `kube-system/neuron-device-plugin`, with its RBAC permissions.

    As in the chart, with additional tolerations for the taints of the node groups. The plan refuses
    instance types that are not in the list of the chart.

    Children: `<name>-account` (`ServiceAccountWithRoles`), `<name>-daemon-set`
    (`apps.v1.DaemonSet`).
    """

    def __init__(
        self,
        name: str,
        args: DevicePluginArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:runtime:NeuronDevicePlugin", name, {}, opts)
        account = ServiceAccountWithRoles(
            f"{name}-account",
            ServiceAccountWithRolesArgs(
                provider=args.provider, name=PLUGIN, rules=RULES, labels=LABELS
            ),
            pulumi.ResourceOptions(parent=self),
        )
        daemon_set = PluginDaemonSet(name=PLUGIN, selector=SELECTOR, labels=LABELS)
        daemon_set.register(f"{name}-daemon-set", _pod(args, account.name), args, self)
        self.register_outputs({})


def _pod(args: DevicePluginArgs, account: pulumi.Input[str]) -> core.PodSpecArgs:
    return core.PodSpecArgs(
        service_account_name=account,
        tolerations=tolerations([CRITICAL_ADDONS_ONLY, NEURON], args.taints),
        affinity=instance_type_affinity(NEURON_PLUGIN_INSTANCE_TYPES),
        priority_class_name="system-node-critical",
        containers=[
            core.ContainerArgs(
                name=PLUGIN,
                image=args.image,
                image_pull_policy="IfNotPresent",
                env=[
                    core.EnvVarArgs(name="KUBECONFIG", value="/etc/kubernetes/kubelet.conf"),
                    core.EnvVarArgs(
                        name="NODE_NAME",
                        value_from=core.EnvVarSourceArgs(
                            field_ref=core.ObjectFieldSelectorArgs(field_path="spec.nodeName")
                        ),
                    ),
                ],
                security_context=core.SecurityContextArgs(
                    allow_privilege_escalation=False,
                    capabilities=core.CapabilitiesArgs(drop=["ALL"]),
                ),
                volume_mounts=[
                    core.VolumeMountArgs(name=volume, mount_path=path, read_only=read_only)
                    for volume, (path, read_only) in HOST_PATHS.items()
                ],
            )
        ],
        volumes=[
            core.VolumeArgs(name=volume, host_path=core.HostPathVolumeSourceArgs(path=path))
            for volume, (path, _) in HOST_PATHS.items()
        ],
    )

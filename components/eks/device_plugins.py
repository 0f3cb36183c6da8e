"""Device plugins of an EKS stack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.catalog.efa_device_plugin import efa_device_plugin_image
from components.catalog.neuron import NEURON_DEVICE_PLUGIN_IMAGE, NEURON_SCHEDULER_IMAGE
from components.catalog.versions import EKS_VERSIONS, NVIDIA_DEVICE_PLUGIN_IMAGE
from components.eks.plan import EksPlan, NodeGroupPlan
from components.runtime.device_plugin import DevicePluginArgs
from components.runtime.efa_device_plugin import EfaDevicePlugin
from components.runtime.neuron_device_plugin import NeuronDevicePlugin
from components.runtime.neuron_scheduler import NeuronScheduler, NeuronSchedulerArgs
from components.runtime.node_selection import ToleratedTaint
from components.runtime.nvidia_device_plugin import NvidiaDevicePlugin


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePluginsArgs:
    """Arguments of `DevicePlugins`."""

    plan: EksPlan
    provider: kubernetes.Provider
    ready: Mapping[str, pulumi.Resource]
    """The resource that exists once the nodes of a group are in service, by node group name."""


def _has_nvidia_gpu(group: NodeGroupPlan) -> bool:
    accelerators = group.instance_type.accelerators
    return accelerators is not None and accelerators.manufacturer == "nvidia"


def _has_neuron_device(group: NodeGroupPlan) -> bool:
    accelerators = group.instance_type.accelerators
    return accelerators is not None and accelerators.manufacturer == "neuron"


def _has_efa(group: NodeGroupPlan) -> bool:
    return group.interfaces is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plugin:
    component: Callable[[str, DevicePluginArgs, pulumi.ResourceOptions], object]
    serves: Callable[[NodeGroupPlan], bool]
    image: Callable[[EksPlan], str]


PLUGINS: Mapping[str, _Plugin] = {
    "nvidia": _Plugin(
        component=NvidiaDevicePlugin,
        serves=_has_nvidia_gpu,
        image=lambda _: NVIDIA_DEVICE_PLUGIN_IMAGE,
    ),
    "neuron": _Plugin(
        component=NeuronDevicePlugin,
        serves=_has_neuron_device,
        image=lambda _: NEURON_DEVICE_PLUGIN_IMAGE,
    ),
    "efa": _Plugin(
        component=EfaDevicePlugin,
        serves=_has_efa,
        image=lambda plan: efa_device_plugin_image(plan.region),
    ),
}
"""Each device plugin and its node groups, by the name in the plan."""


class DevicePlugins(pulumi.ComponentResource):
    """One DaemonSet per kind of device, on the nodes with such devices, and the Neuron scheduler.

    Children: `<name>-<plugin>` (`NvidiaDevicePlugin`, `NeuronDevicePlugin`, `EfaDevicePlugin`) and
    `<name>-neuron-scheduler` (`NeuronScheduler`), as planned.
    """

    def __init__(
        self,
        name: str,
        args: DevicePluginsArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:architectures:DevicePlugins", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        for device in args.plan.device_plugins:
            plugin = PLUGINS[device]
            plugin.component(f"{name}-{device}", _plugin_args(args, plugin), child)
        if args.plan.neuron_scheduler:
            NeuronScheduler(f"{name}-neuron-scheduler", _neuron_scheduler_args(args), child)
        self.register_outputs({})


def _neuron_scheduler_args(args: DevicePluginsArgs) -> NeuronSchedulerArgs:
    # The first node group is the system node group, which does not depend on the others.
    return NeuronSchedulerArgs(
        provider=args.provider,
        extension_image=NEURON_SCHEDULER_IMAGE,
        scheduler_image=EKS_VERSIONS[args.plan.kubernetes_version].kube_scheduler_image,
        install_after=[args.ready[args.plan.node_groups[0].name]],
    )


def _plugin_args(args: DevicePluginsArgs, plugin: _Plugin) -> DevicePluginArgs:
    groups = [group for group in args.plan.node_groups if plugin.serves(group)]
    return DevicePluginArgs(
        provider=args.provider,
        image=plugin.image(args.plan),
        instance_types=[group.instance_type.name for group in groups],
        taints=[
            ToleratedTaint(key=taint.key, value=taint.value, effect=taint.effect)
            for taint in args.plan.device_plugin_tolerations
        ],
        install_after=[args.ready[group.name] for group in groups if group.schedule.desired > 0],
    )

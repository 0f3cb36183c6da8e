"""The self-managed add-ons of a cluster, and which of them a stack installs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from trainyard.components.catalog.instance_types import Manufacturer
from trainyard.components.catalog.neuron import NCCOM_TEST_IMAGE
from trainyard.components.catalog.versions import DCGM_IMAGE, NCCL_TESTS_IMAGE
from trainyard.components.compute.image_registry import UPDATE_PROGRAM, UsedImage
from trainyard.components.config.eks import EksStackConfig, Taint
from trainyard.components.config.problems import ROOT, set_command
from trainyard.components.eks.addons.addon import AddonTarget, SelfManagedAddon
from trainyard.components.eks.addons.dcgm_exporter import DCGM_EXPORTER
from trainyard.components.eks.addons.efa_device_plugin import EFA_DEVICE_PLUGIN
from trainyard.components.eks.addons.efa_exporter import EFA_EXPORTER
from trainyard.components.eks.addons.jobset import JOBSET
from trainyard.components.eks.addons.kube_state_metrics import KUBE_STATE_METRICS
from trainyard.components.eks.addons.kueue import KUEUE
from trainyard.components.eks.addons.neuron_device_plugin import NEURON_DEVICE_PLUGIN
from trainyard.components.eks.addons.neuron_monitor import NEURON_MONITOR
from trainyard.components.eks.addons.neuron_scheduler import NEURON_SCHEDULER
from trainyard.components.eks.addons.node_exporter import NODE_EXPORTER
from trainyard.components.eks.addons.node_termination_handler import NODE_TERMINATION_HANDLER
from trainyard.components.eks.addons.nvidia_device_plugin import NVIDIA_DEVICE_PLUGIN
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.components.eks.plan import EksPlan
from trainyard.components.runtime.workload_plan import WorkloadPlan

SELF_MANAGED_ADDONS: Mapping[str, SelfManagedAddon] = {
    addon.name: addon
    for addon in (
        NVIDIA_DEVICE_PLUGIN,
        NEURON_DEVICE_PLUGIN,
        EFA_DEVICE_PLUGIN,
        NEURON_SCHEDULER,
        NODE_TERMINATION_HANDLER,
        JOBSET,
        KUEUE,
        NODE_EXPORTER,
        DCGM_EXPORTER,
        NEURON_MONITOR,
        EFA_EXPORTER,
        KUBE_STATE_METRICS,
    )
}
"""By name, in the order of installation."""

VERIFICATION_IMAGES: Mapping[Manufacturer, tuple[str, ...]] = {
    "nvidia": (NCCL_TESTS_IMAGE, DCGM_IMAGE),
    "neuron": (NCCOM_TEST_IMAGE,),
}
"""Images of the jobs of `verify`, by manufacturer of the accelerators (`src/trainyard/jobs`)."""


def plan_self_managed_addons(
    config: EksStackConfig, groups: Sequence[NodeGroupPlan]
) -> dict[str, tuple[str, ...]]:
    """Return the node groups that each installed add-on serves, in the order of installation."""
    served = {
        addon.name: tuple(group.name for group in groups if addon.serves(group))
        for addon in SELF_MANAGED_ADDONS.values()
        if addon.enabled(config)
    }
    return {name: names for name, names in served.items() if names}


def plan_tolerations(groups: Iterable[NodeGroupPlan]) -> tuple[Taint, ...]:
    """Return the distinct taints that device plugins must tolerate, in the order of the stack file.

    A plugin that does not tolerate a taint does not run on the node, and the node offers no devices
    to pods. Kubernetes reports no error.
    """
    taints = (
        taint
        for group in groups
        if group.instance_type.accelerators or group.interfaces
        for taint in group.first_taints
    )
    return tuple(dict.fromkeys(taints))


def device_plugins(plan: EksPlan) -> list[str]:
    """Return the planned add-ons that provide devices to pods."""
    return [name for name in plan.self_managed_addons if SELF_MANAGED_ADDONS[name].devices]


def drained_node_groups(plan: EksPlan) -> list[str]:
    """Return the names of the node groups that an add-on drains."""
    return [
        group
        for name, groups in plan.self_managed_addons.items()
        if SELF_MANAGED_ADDONS[name].drains
        for group in groups
    ]


def addon_target(plan: EksPlan, addon: SelfManagedAddon) -> AddonTarget:
    """Return what an installed add-on has to know of the cluster."""
    served = plan.self_managed_addons[addon.name]
    groups = [group for group in plan.node_groups if group.name in served]
    return AddonTarget(
        region=plan.region,
        kubernetes_version=plan.kubernetes_version,
        instance_types=[group.instance_type.name for group in groups],
        taints=plan.device_plugin_tolerations,
        groups=groups,
        elsewhere=[group for group in plan.node_groups if group.name not in served],
        plugins=plan.self_managed_addons,
    )


def addon_images(plan: EksPlan, *, stack_file: str) -> Iterator[UsedImage]:
    """Yield the images of the installed add-ons."""
    for name in plan.self_managed_addons:
        addon = SELF_MANAGED_ADDONS[name]
        target = addon_target(plan, addon)
        # Its system nodes are the first node group.
        nodes = plan.node_groups[:1] if addon.on_system_nodes else target.groups
        remedy = UPDATE_PROGRAM
        if addon.option is not None:
            off = set_command(f"{ROOT}.{addon.option}", "false", stack_file=stack_file)
            remedy = f"do without it: {off}, or {UPDATE_PROGRAM}"
        for image in dict.fromkeys(_images(addon.workloads(target))):
            yield UsedImage(
                image=image,
                key=addon.option or "architecture",
                user=f"the {addon.public_image or addon.name}",
                architectures=frozenset(each.instance_type.architecture for each in nodes),
                remedy=remedy,
            )


def verification_images(plan: EksPlan) -> Iterator[UsedImage]:
    """Yield the images with which `verify` tests nodes."""
    for group in plan.node_groups:
        accelerators = group.instance_type.accelerators
        if accelerators is None or group.instance_type.architecture != "x86_64":
            continue  # `verify` has no image for Arm
        for image in VERIFICATION_IMAGES[accelerators.manufacturer]:
            yield UsedImage(
                image=image,
                key=group.key,
                user="the tests of `verify`",
                architectures=frozenset({group.instance_type.architecture}),
                remedy=f"{UPDATE_PROGRAM}; `up` works without it",
                later=True,
            )


def _images(workloads: Iterable[WorkloadPlan]) -> Iterator[str]:
    for workload in workloads:
        pod = workload.controller["spec"]["template"]["spec"]
        for container in (*pod.get("initContainers", ()), *pod["containers"]):
            yield container["image"]


def with_public_images(names: Iterable[str]) -> list[str]:
    """Return what messages call the named add-ons whose images are in public registries."""
    called = (SELF_MANAGED_ADDONS[name].public_image for name in names)
    return [f"the {name}" for name in called if name is not None]

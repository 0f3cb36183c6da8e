"""The self-managed add-ons of a cluster, and which of them a stack installs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from components.config.eks import Taint
from components.config.eks_stack import EksStackConfig
from components.eks.addons.addon import SelfManagedAddon
from components.eks.addons.dcgm_exporter import DCGM_EXPORTER
from components.eks.addons.efa_device_plugin import EFA_DEVICE_PLUGIN
from components.eks.addons.efa_exporter import EFA_EXPORTER
from components.eks.addons.jobset import JOBSET
from components.eks.addons.kube_state_metrics import KUBE_STATE_METRICS
from components.eks.addons.kueue import KUEUE
from components.eks.addons.neuron_device_plugin import NEURON_DEVICE_PLUGIN
from components.eks.addons.neuron_monitor import NEURON_MONITOR
from components.eks.addons.neuron_scheduler import NEURON_SCHEDULER
from components.eks.addons.node_exporter import NODE_EXPORTER
from components.eks.addons.node_termination_handler import NODE_TERMINATION_HANDLER
from components.eks.addons.nvidia_device_plugin import NVIDIA_DEVICE_PLUGIN
from components.eks.node_group_plan import NodeGroupPlan
from components.eks.plan import EksPlan

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


def with_public_images(names: Iterable[str]) -> list[str]:
    """Return what messages call the named add-ons whose images are in public registries."""
    called = (SELF_MANAGED_ADDONS[name].public_image for name in names)
    return [f"the {name}" for name in called if name is not None]

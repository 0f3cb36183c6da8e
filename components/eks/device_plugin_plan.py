"""Device plugins that a cluster needs, and checks that they run on its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from components.catalog.efa_device_plugin import EFA_PLUGIN_INSTANCE_TYPES
from components.catalog.instance_type import InstanceType
from components.catalog.neuron import NEURON_PLUGIN_INSTANCE_TYPES, NEURON_VERSION
from components.catalog.versions import EFA_DEVICE_PLUGIN_CHART_VERSION
from components.config.eks_addons import Addons
from components.config.review import Review
from components.eks.plan import NodeGroupPlan, Taint

DevicePlugin = Literal["nvidia", "efa", "neuron"]


def plan_device_plugins(
    groups: Iterable[NodeGroupPlan], *, efa: bool = True
) -> tuple[DevicePlugin, ...]:
    """Return the plugins that the node groups need, in the order of installation.

    Without `efa`, another component (such as the DRA driver) provides the EFA interfaces.
    """
    needed: set[DevicePlugin] = set()
    for group in groups:
        if group.instance_type.accelerators:
            needed.add(group.instance_type.accelerators.manufacturer)
        if group.interfaces and efa:
            needed.add("efa")
    order: Sequence[DevicePlugin] = ("nvidia", "neuron", "efa")
    return tuple(plugin for plugin in order if plugin in needed)


def plan_tolerations(groups: Iterable[NodeGroupPlan]) -> tuple[Taint, ...]:
    """Return the distinct taints that device plugins must tolerate, in the order of the stack file.

    A plugin that does not tolerate a taint does not run on the node, and the node offers no devices
    to pods. Kubernetes reports no error.
    """
    taints = (
        taint
        for group in groups
        if group.instance_type.accelerators or group.interfaces
        for taint in group.taints
    )
    return tuple(dict.fromkeys(taints))


def plan_neuron_scheduler(addons: Addons, groups: Iterable[NodeGroupPlan]) -> bool:
    """Return whether to install the Neuron scheduler extension: enabled and useful."""
    return addons.neuron_scheduler and "neuron" in plan_device_plugins(groups)


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
        )

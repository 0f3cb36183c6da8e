"""Devices that a node offers to pods once the device plugins run."""

from __future__ import annotations

from collections.abc import Collection

from trainyard.components.catalog.neuron import NEURON_CORE, NEURON_DEVICE, neuron_cores
from trainyard.components.eks.node_group_plan import NodeGroupPlan

NVIDIA_GPU = "nvidia.com/gpu"
EFA = "vpc.amazonaws.com/efa"


def node_devices(group: NodeGroupPlan, plugins: Collection[str]) -> dict[str, int]:
    """Return the number of devices per node, by the resource name that pods request.

    `plugins` are the installed plugins, as named in the plan. Devices without a plugin are omitted.
    """
    devices: dict[str, int] = {}
    accelerators = group.instance_type.accelerators
    if accelerators and accelerators.manufacturer in plugins:
        if accelerators.manufacturer == "nvidia":
            devices[NVIDIA_GPU] = accelerators.count
        else:
            devices[NEURON_DEVICE] = accelerators.count
            devices[NEURON_CORE] = neuron_cores(accelerators.model, accelerators.count)
    if group.interfaces and "efa" in plugins:
        devices[EFA] = group.interfaces.efa_interfaces
    return devices

"""Which devices a node of a group offers to pods once its plugins run."""

from __future__ import annotations

from collections.abc import Collection

from components.catalog.neuron import NEURON_CORE, NEURON_DEVICE, neuron_cores
from components.eks.plan import NodeGroupPlan

NVIDIA_GPU = "nvidia.com/gpu"
EFA = "vpc.amazonaws.com/efa"


def node_devices(group: NodeGroupPlan, plugins: Collection[str]) -> dict[str, int]:
    """Return the number of devices on each node, by the resource name that pods ask for.

    `plugins` are the installed ones, as the plan names them; what none hands out is left out.
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

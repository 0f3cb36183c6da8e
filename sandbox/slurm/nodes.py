"""The Slurm nodes of a cluster as ParallelCluster configures them.

Source:
    https://github.com/aws/aws-parallelcluster-cookbook, cookbooks/aws-parallelcluster-slurm/files/
        default/head_node_slurm/slurm: `config_renderer.py` and `config_utils.py`
    https://github.com/aws/aws-parallelcluster-cookbook, cookbooks/aws-parallelcluster-slurm/
        attributes/slurm_attributes.rb (`realmemory_to_ec2memory_ratio`)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.sandbox.instance_types import instance_type

_REAL_MEMORY_RATIO = 0.95
_STATIC_WEIGHT, _DYNAMIC_WEIGHT = 1, 1000
"""`StaticNodePriority` and `DynamicNodePriority`:
https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRange:
    """The static or the dynamic nodes of a compute resource, which all are equal."""

    queue: str
    resource: str
    """Name of the compute resource."""
    capacity_block: str | None
    """Id of the Capacity Block in which the nodes run; None for other nodes."""
    prefix: str
    """Name of a node without its number, such as `compute-gpu-st-distributed-ml-`."""
    count: int
    static: bool
    cpus: int
    memory_mib: int
    weight: int
    features: tuple[str, ...]
    gpu_type: str | None
    """None without NVIDIA GPUs."""
    gpus: int
    settings: Mapping[str, object]
    """`CustomSlurmSettings` of the compute resource."""

    @property
    def expression(self) -> str:
        """All names in one expression of Slurm."""
        return f"{self.prefix}[1-{self.count}]"

    @property
    def names(self) -> list[str]:
        """The names of the nodes."""
        return [f"{self.prefix}{number}" for number in range(1, self.count + 1)]


def node_ranges(queue: Mapping[str, Any]) -> Iterator[NodeRange]:
    """Yield the nodes of a queue of a cluster configuration."""
    for resource in queue["ComputeResources"]:
        static = resource.get("MinCount", 0)
        for kind, count in (("st", static), ("dy", resource.get("MaxCount", 10) - static)):
            if count > 0:
                yield _range(queue, resource, kind, count)


def _range(
    queue: Mapping[str, Any], resource: Mapping[str, Any], kind: str, count: int
) -> NodeRange:
    types = [each["InstanceType"] for each in resource.get("Instances", [])] or [
        resource["InstanceType"]
    ]
    facts = [instance_type(name) for name in types]
    cpus = min(each.vcpus for each in facts)
    if resource.get("DisableSimultaneousMultithreading"):
        cpus //= facts[0].threads_per_core
    # Fractions of GPUs do not count: `gpu_count` of ParallelCluster's `aws/aws_resources.py`.
    every = [each.accelerators for each in facts if each.has("nvidia") and each.accelerators]
    every = [each for each in every if each.whole]
    # Types without GPUs leave the nodes without them.
    fewest = min(every, key=lambda each: each.whole) if len(every) == len(facts) else None
    static = kind == "st"
    memory = math.floor(min(each.memory_mib for each in facts) * _REAL_MEMORY_RATIO)
    return NodeRange(
        queue=queue["Name"],
        resource=resource["Name"],
        capacity_block=_capacity_block(queue, resource),
        prefix=f"{queue['Name']}-{kind}-{resource['Name']}-",
        count=count,
        static=static,
        cpus=cpus,
        memory_mib=resource.get("SchedulableMemory", memory),
        weight=resource.get(
            "StaticNodePriority" if static else "DynamicNodePriority",
            _STATIC_WEIGHT if static else _DYNAMIC_WEIGHT,
        ),
        features=(
            "static" if static else "dynamic",
            *(types if len(types) == 1 else ()),
            resource["Name"],
            *(("efa",) if resource.get("Efa", {}).get("Enabled") else ()),
            *(("gpu",) if fewest else ()),
        ),
        gpu_type=fewest.model.replace(" ", "").lower() if fewest else None,
        gpus=fewest.whole if fewest else 0,
        settings=resource.get("CustomSlurmSettings", {}),
    )


def _capacity_block(queue: Mapping[str, Any], resource: Mapping[str, Any]) -> str | None:
    """Return the id of a Capacity Block; source: `pcluster_fleet_config_generator.py`."""
    if queue.get("CapacityType") != "CAPACITY_BLOCK":
        return None
    of_resource, of_queue = (e.get("CapacityReservationTarget") or {} for e in (resource, queue))
    return (of_resource or of_queue)["CapacityReservationId"]

"""The entries of `SlurmQueues`.

ParallelCluster accepts placement group and reservation for a queue or a compute resource. They are
rendered at the queue if all compute resources agree, else at each compute resource, so that each
setting appears once.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.components.capacity.plan import CapacityPlan, PlacementPlan
from trainyard.components.parallelcluster.queue_plan import ComputeResourcePlan, QueuePlan
from trainyard.components.parallelcluster.references import Reference
from trainyard.components.parallelcluster.rendering.custom_actions import ACCESS_KEYS, render_access
from trainyard.components.parallelcluster.rendering.storage import (
    ROOT_VOLUME_KEYS,
    render_root_volume,
)
from trainyard.components.tagging import NODE_METRICS_TAG

_CAPACITY_TYPES = {None: "ONDEMAND", "spot": "SPOT", "capacity-block": "CAPACITY_BLOCK"}
"""`CapacityType` by market type."""

_NO_TARGET: dict[str, Any] = {}

QUEUE_KEYS: Mapping[str, str] = {
    "CapacityType": "purchase_option",
    "CapacityReservationTarget": "purchase_option",
    "AllocationStrategy": "allocation_strategy",
    "ComputeSettings.LocalStorage.EphemeralVolume": "scratch_directory",
    **{f"ComputeSettings.LocalStorage.{theirs}": ours for theirs, ours in ROOT_VOLUME_KEYS.items()},
    **ACCESS_KEYS,
    "Image": "custom_ami_id",
    "Networking.SubnetIds": "subnet_ids",
    # Every compute resource has a placement; equal placements are rendered at the queue.
    "Networking.PlacementGroup": "compute_resources",
    "HealthChecks": "gpu_health_check",
    "CustomSlurmSettings": "slurm_settings",
    "JobExclusiveAllocation": "exclusive_jobs",
    "ComputeResources": "compute_resources",
}
"""Stack file key of each setting of a queue."""
COMPUTE_RESOURCE_KEYS: Mapping[str, str] = {
    "InstanceType": "instance_type",
    "Instances": "instance_type",
    "MinCount": "minimum",
    "MaxCount": "maximum",
    "Efa": "efa_enabled",
    "DisableSimultaneousMultithreading": "simultaneous_multithreading",
    "SchedulableMemory": "schedulable_memory_mib",
    "CapacityReservationTarget": "purchase_option",
    "Networking": "placement",
    "CustomSlurmSettings": "slurm_settings",
}
"""Stack file key of each setting of a compute resource."""


def render_queue(queue: QueuePlan) -> dict[str, Any]:
    """Return one queue with its compute resources."""
    config = queue.config
    placement = _common([placement_group(r.placement) for r in queue.compute_resources])
    first = [r for r in queue.compute_resources if r.pool == r.name]
    # Without further blocks, because a change of the queue's own target replaces its nodes.
    target = _common([reservation_target(r.capacity) for r in first])
    return {
        "Name": queue.name,
        "CapacityType": _CAPACITY_TYPES[queue.capacity.market_type],
        **_some("AllocationStrategy", config.allocation_strategy),
        "JobExclusiveAllocation": config.exclusive_jobs,
        **({"Image": {"CustomAmi": config.custom_ami_id}} if config.custom_ami_id else {}),
        **_some("CapacityReservationTarget", target),
        "Networking": {
            "SubnetIds": [Reference("subnet", subnet) for subnet in queue.subnets],
            **_some("PlacementGroup", placement),
        },
        "ComputeSettings": {
            "LocalStorage": {
                "RootVolume": render_root_volume(config.root_volume),
                "EphemeralVolume": {"MountDir": config.scratch_directory},
            }
        },
        **({"HealthChecks": {"Gpu": {"Enabled": True}}} if config.gpu_health_check else {}),
        "ComputeResources": [
            _compute_resource(
                resource,
                flexible=_is_flexible(queue),
                with_placement=placement is None,
                queue_target=target,
            )
            for resource in queue.compute_resources
        ],
        **render_access(queue.access),
        **_some("CustomSlurmSettings", dict(config.slurm_settings)),
    }


def placement_group(placement: PlacementPlan) -> dict[str, Any]:
    """Return `PlacementGroup`, also if disabled: with EFA it must be explicit."""
    if placement.group == "none":
        return {"Enabled": False}
    if placement.group == "create":
        return {"Enabled": True}
    return {"Enabled": True, "Name": placement.name}


def reservation_target(capacity: CapacityPlan) -> dict[str, Any]:
    """Return `CapacityReservationTarget`, empty without a reservation.

    The id of a reservation and the ARN of a group that the stack creates are references with the
    name of the reservation.
    """
    if capacity.creation is not None:
        return {"CapacityReservationId": Reference("reservation", capacity.purchase_option)}
    if capacity.reservation_id is not None:
        return {"CapacityReservationId": capacity.reservation_id}
    if capacity.reservation_group_arn is not None:
        return {"CapacityReservationResourceGroupArn": capacity.reservation_group_arn}
    if capacity.reservation_group_members:
        group = Reference("reservation-group", capacity.purchase_option)
        return {"CapacityReservationResourceGroupArn": group}
    return _NO_TARGET


def _is_flexible(queue: QueuePlan) -> bool:
    # ParallelCluster refuses `InstanceType` in a queue with several subnets, and uses the
    # allocation strategy only with EC2 Fleet (SingleInstanceTypeSubnetValidator).
    return len(queue.subnets) > 1 or queue.config.allocation_strategy is not None


def _compute_resource(
    resource: ComputeResourcePlan,
    *,
    flexible: bool,
    with_placement: bool,
    queue_target: dict[str, Any] | None,
) -> dict[str, Any]:
    instance_type = resource.instance_type.name
    placement = placement_group(resource.placement)
    target = reservation_target(resource.capacity)
    return {
        "Name": resource.name,
        **(
            {"Instances": [{"InstanceType": instance_type}]}
            if flexible
            else {"InstanceType": instance_type}
        ),
        "MinCount": resource.minimum,
        "MaxCount": resource.maximum,
        **({"Efa": {"Enabled": True}} if resource.efa_enabled else {}),
        **(
            {}
            if resource.config.simultaneous_multithreading
            else {"DisableSimultaneousMultithreading": True}
        ),
        **_some("SchedulableMemory", resource.config.schedulable_memory_mib),
        **(_some("CapacityReservationTarget", target) if target != queue_target else {}),
        **({"Networking": {"PlacementGroup": placement}} if with_placement else {}),
        **_some("CustomSlurmSettings", dict(resource.config.slurm_settings)),
        **_some("Tags", _tags(resource)),
    }


def _tags(resource: ComputeResourcePlan) -> list[dict[str, str]]:
    value = resource.metrics_tag
    return [{"Key": NODE_METRICS_TAG, "Value": value}] if value else []


def _common(sections: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the section if all are equal, else None."""
    first, *others = sections
    return first if all(other == first for other in others) else None


def _some(key: str, value: object) -> dict[str, Any]:
    return {key: value} if value else {}

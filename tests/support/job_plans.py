"""Node groups that run jobs: each kind of accelerator, with and without EFA."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from components.capacity.plan import SchedulePlan
from components.catalog.instance_types import instance_type
from components.compute.interface_plan import plan_interfaces
from components.eks.node_group_plan import NodeGroupPlan
from components.storage.fsx_lustre_plan import ClaimPlan, FsxLustrePlan
from tests.support.eks_plans import NO_PLACEMENT, ON_DEMAND, P5

SHARED = FsxLustrePlan(
    name="data",
    claim=ClaimPlan(name="data", namespace="default", volume_name="default-data", mount_options=()),
    capacity_gib=1200,
)


def nodes_of(
    type_name: str, *, efa: bool = True, desired: int = 2, **changes: Any
) -> NodeGroupPlan:
    """Return a node group of a type, named after its family, that may scale up by one node."""
    found = instance_type(type_name)
    return replace(
        P5,
        **{
            "name": found.family,
            "instance_type": found,
            "capacity": ON_DEMAND,
            "placement": NO_PLACEMENT,
            "schedule": SchedulePlan(
                state="unlimited", minimum=0, desired=desired, maximum=desired + 1
            ),
            "interfaces": plan_interfaces(found) if efa and found.efa_supported else None,
            "labels": {},
            "taints": (),
            **changes,
        },
    )

"""Capacity and placement of node pools for tests, and changes of complete plans of pools."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeVar

from tests.support.stack_files import PRIVATE_A, PRIVATE_B, PUBLIC_A, PUBLIC_B, RESERVATION, VPC
from trainyard.components.batch.compute_environment_plan import ComputeEnvironmentPlan
from trainyard.components.capacity.plan import CapacityPlan, CreationPlan, PlacementPlan
from trainyard.components.network.network_plan import existing_network
from trainyard.components.parallelcluster.queue_plan import ComputeResourcePlan, QueuePlan

NETWORK = existing_network(
    VPC, public_subnet_ids=(PUBLIC_A, PUBLIC_B), private_subnet_ids=(PRIVATE_A, PRIVATE_B)
)
ON_DEMAND = CapacityPlan(purchase_option="on-demand", kind="on-demand")
SPOT = CapacityPlan(
    purchase_option="spot", kind="spot", market_type="spot", eks_capacity_type="SPOT"
)
ODCR_GROUP = CapacityPlan(
    purchase_option="group",
    kind="odcr-group",
    reservation_group_members=(RESERVATION, "cr-0123456789abcdef1"),
    preference="capacity-reservations-only",
    availability_zone="us-west-2b",
)
BLOCK = CapacityPlan(
    purchase_option="block",
    kind="capacity-block",
    market_type="capacity-block",
    reservation_id=RESERVATION,
    preference="capacity-reservations-only",
    availability_zone="us-west-2b",
    eks_capacity_type="CAPACITY_BLOCK",
)
CREATION = CreationPlan(
    instance_count=4,
    availability_zone="us-west-2b",
    placement_group=None,
    ends_at=None,
    deletion_protection=True,
)
CREATED_ODCR = CapacityPlan(
    purchase_option="first",
    kind="odcr",
    preference="capacity-reservations-only",
    availability_zone="us-west-2b",
    creation=CREATION,
)
NO_PLACEMENT = PlacementPlan(group="none", reason="the location of the capacity is fixed")
MANAGED_PLACEMENT = PlacementPlan(group="create", reason="training with EFA runs fastest")

Plan = TypeVar("Plan", ComputeEnvironmentPlan, ComputeResourcePlan, QueuePlan)


def odcr(purchase_option: str) -> CapacityPlan:
    """Return the ODCR of the account under a name of the stack file."""
    return CapacityPlan(
        purchase_option=purchase_option,
        kind="odcr",
        reservation_id=RESERVATION,
        preference="capacity-reservations-only",
        availability_zone="us-west-2b",
    )


def changed(plan: Plan, changes: dict[str, Any]) -> Plan:
    """Return the plan with changed values, in its own fields or in its part of the stack file."""
    planned = {field.name for field in fields(plan)}
    own = {name: value for name, value in changes.items() if name in planned}
    others = {name: value for name, value in changes.items() if name not in planned}
    assert others.keys() <= type(plan.config).model_fields.keys()
    return replace(plan, **{"config": plan.config.model_copy(update=others), **own})

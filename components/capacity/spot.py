"""Plan for Spot Instances.

Source: https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html
"""

from __future__ import annotations

from components.capacity.plan import CapacityPlan


def plan_spot() -> CapacityPlan:
    """Return the plan that runs nodes in the Spot market."""
    return CapacityPlan(
        purchase_option="spot", kind="spot", market_type="spot", eks_capacity_type="SPOT"
    )

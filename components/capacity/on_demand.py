"""Plan for On-Demand Instances without a reservation."""

from __future__ import annotations

from components.capacity.plan import CapacityPlan


def plan_on_demand() -> CapacityPlan:
    """Return the plan for On-Demand Instances."""
    return CapacityPlan(purchase_option="on-demand", kind="on-demand")

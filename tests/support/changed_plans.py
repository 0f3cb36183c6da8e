"""Plans of node pools that differ from a complete one in a few values."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeVar

from components.batch.compute_environment_plan import ComputeEnvironmentPlan
from components.parallelcluster.queue_plan import ComputeResourcePlan, QueuePlan

Plan = TypeVar("Plan", ComputeEnvironmentPlan, ComputeResourcePlan, QueuePlan)


def changed(plan: Plan, changes: dict[str, Any]) -> Plan:
    """Return the plan with changed values, in its own fields or in its part of the stack file."""
    planned = {field.name for field in fields(plan)}
    own = {name: value for name, value in changes.items() if name in planned}
    others = {name: value for name, value in changes.items() if name not in planned}
    assert others.keys() <= type(plan.config).model_fields.keys()
    return replace(plan, **{"config": plan.config.model_copy(update=others), **own})

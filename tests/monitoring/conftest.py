"""Stacks with monitoring, of every scheduler and accelerator."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from components.monitoring.plan import MonitoringPlan
from tests.support.stacks import prepared

_ADDON = {"architecture": {"addons": {"cloudwatch_observability": True}}}
_LUSTRE = {
    "data": {
        "kind": "fsx-lustre",
        "storage_capacity_gib": 2400,
        "per_unit_storage_throughput": 125,
    }
}
MONITORED: Mapping[str, Mapping[str, Any]] = {
    "p5-cb": {**_ADDON, "storage": _LUSTRE},
    "eks-trn1": _ADDON,
    "pc-gpu": {"architecture": {"monitoring": {"dashboard": True}}},
    "batch-p5": {},
}
"""Stack files, with what their plans need beyond `monitoring`."""


@cache
def monitoring_of(stack: str) -> MonitoringPlan:
    """Return the plan of a stack's monitoring, with alarms."""
    changes = {**MONITORED[stack], "monitoring": {"alarms": {}}}
    plan = prepared(stack, changes=changes).plan.monitoring_plan
    assert plan is not None
    return plan

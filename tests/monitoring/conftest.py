"""Stacks with monitoring, of every scheduler and accelerator."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from tests.support.monitoring import CLOUDWATCH
from tests.support.stacks import prepared
from trainyard.components.monitoring.plan import MonitoringPlan

_LUSTRE = {
    "data": {
        "kind": "fsx-lustre",
        "storage_capacity_gib": 2400,
        "per_unit_storage_throughput": 125,
    }
}
MONITORED: Mapping[str, Mapping[str, Any]] = {
    "p5-cb": {"monitoring": CLOUDWATCH, "storage": _LUSTRE},
    "eks-trn1": {"monitoring": CLOUDWATCH},
    "pc-gpu": {
        "monitoring": CLOUDWATCH,
        "architecture": {"monitoring": {"dashboard": True}},
    },
    "batch-p5": {"monitoring": CLOUDWATCH},
}
"""Stack files, with what their plans need beyond the rest of `monitoring`."""


def changes_of(stack: str, **monitoring: Any) -> dict[str, Any]:
    """Return the changes of a stack file, with more keys of `monitoring`."""
    changes = MONITORED[stack]
    return {**changes, "monitoring": {**changes["monitoring"], **monitoring}}


@cache
def monitoring_of(stack: str) -> MonitoringPlan:
    """Return the plan of a stack's monitoring, with alarms."""
    plan = prepared(stack, changes=changes_of(stack, alarms={})).plan.monitoring_plan
    assert plan is not None
    return plan

"""The section `Scheduling`: Slurm and its queues.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.components.config.parallelcluster import Slurm
from trainyard.components.parallelcluster.plan import ParallelClusterPlan
from trainyard.components.parallelcluster.rendering.queues import render_queue

SLURM_KEYS: Mapping[str, str] = {
    "ScaledownIdletime": "idle_minutes",
    "QueueUpdateStrategy": "queue_update_strategy",
    "EnableMemoryBasedScheduling": "memory_based_scheduling",
    "CustomSlurmSettings": "settings",
}
"""Stack file key of each setting of Slurm."""


def render_scheduling(plan: ParallelClusterPlan) -> dict[str, Any]:
    """Return the section; queues keep the order of the plan, and the first is the default."""
    return {
        "Scheduler": "slurm",
        "ScalingStrategy": plan.slurm.scaling_strategy,
        "SlurmSettings": _slurm_settings(plan.slurm),
        "SlurmQueues": [render_queue(queue) for queue in plan.queues],
    }


def _slurm_settings(slurm: Slurm) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "ScaledownIdletime": slurm.idle_minutes,
        # Without it, updates that remove nodes are refused until the fleet is stopped.
        "QueueUpdateStrategy": slurm.queue_update_strategy,
        "EnableMemoryBasedScheduling": slurm.memory_based_scheduling,
    }
    if slurm.settings:
        settings["CustomSlurmSettings"] = [{key: value} for key, value in slurm.settings.items()]
    return settings

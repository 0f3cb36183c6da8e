"""What a Batch stack needs of quotas, besides those of network, storage and pools."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.batch.plan import BatchPlan
from trainyard.components.checks.quota_needs import Need

BATCH_QUOTAS = (
    "compute-environments",
    "job-queues",
    "launch-templates",
    "placement-groups",
    "security-groups",
    "gp3-storage",
    "iam-roles",
    "iam-instance-profiles",
)
"""Quotas that a Batch stack counts towards."""


def batch_needs(plan: BatchPlan) -> Iterator[Need]:
    """Yield the needs of the compute environments, each with its job queue."""
    environments, key = len(plan.compute_environments), "architecture.compute_environments"
    yield Need(quota="compute-environments", key=key, amount=environments)
    yield Need(quota="job-queues", key=key, amount=environments)
    yield Need(quota="security-groups", key="architecture", amount=1)
    yield Need(quota="iam-roles", key="architecture", amount=1 + len(plan.job_definitions))
    yield Need(quota="iam-instance-profiles", key="architecture", amount=1)

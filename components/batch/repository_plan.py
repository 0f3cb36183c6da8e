"""Plan and check of the repository in the stack file."""

from __future__ import annotations

import re

from components.batch.plan import RepositoryPlan
from components.catalog.batch import REPOSITORY_NAME
from components.config.batch_stack import BatchStackConfig
from components.config.review import Review

SHORTEST_NAME = 2


def plan_repository(config: BatchStackConfig) -> RepositoryPlan | None:
    """Return the plan of the stack's repository, whose default name is that of the stack."""
    repository = config.architecture.repository
    if repository is None:
        return None
    return RepositoryPlan(
        name=repository.name or config.name,
        untagged_days=repository.untagged_days,
        kept_images=repository.kept_images,
        deletion_protection=repository.deletion_protection,
    )


def review_repository(config: BatchStackConfig, review: Review) -> None:
    """Refuse a name that ECR does not accept."""
    plan = plan_repository(config)
    if plan is None:
        return
    if len(plan.name) >= SHORTEST_NAME and re.fullmatch(REPOSITORY_NAME, plan.name):
        return
    review.refuse(
        "architecture.repository.name",
        "is not a valid ECR repository name"
        if config.architecture.repository and config.architecture.repository.name
        else "is missing, and the stack's `name` is not a valid ECR repository name",
        found=plan.name,
        allowed="2 or more lowercase letters, digits and hyphens that do not end with a hyphen",
        remedy=review.set_command("architecture.repository.name", "training"),
    )

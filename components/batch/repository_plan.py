"""Plan and check of the repository in the stack file."""

from __future__ import annotations

import re

from trainyard.components.batch.plan import RepositoryPlan
from trainyard.components.catalog.batch import REPOSITORY_NAME
from trainyard.components.config.batch import BatchStackConfig
from trainyard.components.config.problems import Review


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
        adopt=repository.adopt,
    )


def review_repository(config: BatchStackConfig, review: Review) -> None:
    """Refuse a name of the stack that ECR does not accept."""
    plan = plan_repository(config)
    if plan is None or re.fullmatch(REPOSITORY_NAME, plan.name):
        return
    review.refuse(
        "architecture.repository.name",
        "is missing, and the stack's `name` is not a valid ECR repository name",
        found=plan.name,
        allowed="2 or more lowercase letters and digits, with `.`, `_`, `/` and `-` between them",
        remedy=review.set_command("architecture.repository.name", "training"),
    )

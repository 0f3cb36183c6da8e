"""Warns of a compute environment that stays closed in its Capacity Block.

The schedules of `schedule_environment` open and close it outside of Pulumi, which sends the state
only if it differs from the last one that it has seen. So an update after the start of a block opens
no environment that the end of the block before has closed:
https://github.com/hashicorp/terraform-provider-aws/blob/main/internal/service/batch/compute_environment.go
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.lookup import AccountReader
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.tagging import CLUSTER_TAG

DESCRIBE = "batch:DescribeComputeEnvironments"


def look_up_disabled_environments(reader: AccountReader, stack: str) -> tuple[str, ...]:
    """Return the names of the disabled compute environments of a stack.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    pages = reader.pages(DESCRIBE, reader.client("batch").describe_compute_environments)
    return tuple(
        each["computeEnvironmentName"]
        for each in environments_of(stack, pages)
        if each["state"] == "DISABLED"
    )


def environments_of(stack: str, pages: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the compute environments of a stack, whose names only the provider knows.

    Args:
        stack: Name of the cluster, which is a tag of its environments.
        pages: Answers of DescribeComputeEnvironments.
    """
    for page in pages:
        for each in page["computeEnvironments"]:
            if (each.get("tags") or {}).get(CLUSTER_TAG) == stack:
                yield each


def closed_environment_warnings(plan: BatchPlan, facts: AccountFacts) -> Iterator[str]:
    """Yield the environments that are closed in an active block, with the commands to open them."""
    for environment in plan.compute_environments:
        if environment.schedule.state != "active":
            continue
        for name in facts.disabled_environments:
            # The provider appends digits to the name that the stack gives.
            if name.rpartition("-")[0] == plan.queue_name(environment.name):
                yield (
                    f"the compute environment {name} is disabled, so that no job starts in the "
                    f"Capacity Block of {environment.key}, which is active. To enable it, run: aws "
                    f"batch update-compute-environment --region {plan.region} "
                    f"--compute-environment {name} --state ENABLED"
                )

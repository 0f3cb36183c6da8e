"""Compute environments, job queues and job definitions.

Source of the states: https://docs.aws.amazon.com/batch/latest/APIReference/
(`ComputeEnvironmentDetail`, `JobQueueDetail`: `status`). Source of the ids:
https://www.pulumi.com/registry/packages/aws/api-docs/batch/ (section "Import" of each type).
"""

from __future__ import annotations

from trainyard.components.tagging import RESOURCE_TAG
from trainyard.workspace.recovery.account import Account, Found, progress, tag_of
from trainyard.workspace.recovery.operations import PendingCreate
from trainyard.workspace.recovery.ways import Way, by_name, by_tag

_GONE = {"DELETING", "DELETED"}
_MAKING = {"CREATING", "UPDATING"}


def _environment(account: Account, create: PendingCreate) -> list[Found]:
    # The provider generates the name from a prefix, so the inputs do not have it.
    wanted = tag_of(create)
    return [
        Found(
            each["computeEnvironmentName"],
            **progress(each["status"], making=_MAKING, failed={"INVALID"}),
        )
        for each in account.all("batch", "describe_compute_environments", "computeEnvironments")
        if (each.get("tags") or {}).get(RESOURCE_TAG) == wanted and each["status"] not in _GONE
    ]


def _queue(account: Account, create: PendingCreate) -> list[Found]:
    found = account.all(
        "batch", "describe_job_queues", "jobQueues", jobQueues=[create.inputs["name"]]
    )
    return [
        Found(
            each["jobQueueArn"],
            tags=each.get("tags") or {},
            **progress(each["status"], making=_MAKING, failed={"INVALID"}),
        )
        for each in found
        if each["status"] not in _GONE
    ]


def _queue_by_id(account: Account, identifier: str) -> list[Found]:
    queues = account.all("batch", "describe_job_queues", "jobQueues", jobQueues=[identifier])
    return [
        Found(
            each["jobQueueArn"],
            **progress(each["status"], making={*_MAKING, "DELETING"}, failed={"INVALID"}),
        )
        for each in queues
        if each["status"] != "DELETED"
    ]


def _definition(account: Account, create: PendingCreate) -> list[Found]:
    found = account.all(
        "batch",
        "describe_job_definitions",
        "jobDefinitions",
        jobDefinitionName=create.inputs["name"],
        status="ACTIVE",
    )
    # A create after a deletion of the same name continues the revision numbers; take the newest.
    newest = sorted(found, key=lambda each: each["revision"])[-1:]
    return [Found(each["jobDefinitionArn"], tags=each.get("tags") or {}) for each in newest]


WAYS: dict[str, Way] = {
    "aws:batch/computeEnvironment:ComputeEnvironment": by_tag(
        "batch:DescribeComputeEnvironments", _environment
    ),
    "aws:batch/jobQueue:JobQueue": by_name("batch:DescribeJobQueues", _queue).looked_up_by(
        _queue_by_id
    ),
    "aws:batch/jobDefinition:JobDefinition": by_name("batch:DescribeJobDefinitions", _definition),
}

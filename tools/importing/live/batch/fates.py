"""What becomes of answers about AWS Batch that a template has no property for."""

from __future__ import annotations

from collections.abc import Mapping

from tools.importing.batch_jobs.conversion import OF_ANSWER
from tools.importing.report import Fate, FateRow

_STATE = "it is the state of what runs, not its configuration"
_ITS_OWN = "the stack has its own"
_ENVIRONMENT, _QUEUE, _JOB, _TEMPLATE = (
    "DescribeComputeEnvironments",
    "DescribeJobQueues",
    "DescribeJobDefinitions",
    "DescribeLaunchTemplateVersions",
)

_ROWS: Mapping[str, tuple[Fate, str]] = {
    **{
        f"{call}.{key}": ("dropped", _STATE)
        for call in (_ENVIRONMENT, _QUEUE)
        for key in ("status", "statusReason")
    },
    **{
        f"{_ENVIRONMENT}.{key}": ("dropped", _ITS_OWN)
        for key in ("computeEnvironmentArn", "ecsClusterArn", "uuid")
    },
    f"{_QUEUE}.jobQueueArn": ("dropped", _ITS_OWN),
    f"{_TEMPLATE}.LaunchTemplateId": ("dropped", _ITS_OWN),
    f"{_ENVIRONMENT}.containerOrchestrationType": (
        "dropped",
        "a stack runs jobs of Batch on ECS",
    ),
    f"{_ENVIRONMENT}.context": ("dropped", "Batch does not use it"),
    f"{_ENVIRONMENT}.ecsSettings": (
        "not supported",
        "set `monitoring` of the stack for metrics of nodes",
    ),
    f"{_ENVIRONMENT}.computeResources.capacityTags": (
        "not supported",
        "set `tags` of the stack, which all resources get",
    ),
    f"{_ENVIRONMENT}.computeResources.managedInstancesProvider": (
        "not supported",
        "nodes of a stack are EC2 instances that Batch launches, not ECS Managed Instances",
    ),
    f"{_QUEUE}.jobQueueType": ("dropped", "it is that of the compute environments"),
    **{f"{_JOB}.{key[0].lower()}{key[1:]}": ("dropped", why) for key, why in OF_ANSWER.items()},
    **{
        f"{_TEMPLATE}.{key}": ("dropped", "it is of the version, not of the nodes")
        for key in ("VersionNumber", "CreateTime", "CreatedBy", "DefaultVersion", "Operator")
    },
    "DescribeRepositories": ("implied", "an adopted repository keeps it"),
    "GetInstanceProfile": ("implied", "the stack creates the role and the instance profile"),
    "ListAttachedRolePolicies": ("implied", "the stack creates the role"),
    "GetRolePolicy": (
        "not supported",
        "create a managed policy, and name it in `iam_policies` of what needs it",
    ),
    "GetRolePolicy.RoleName": ("implied", "the stack creates the role"),
}
"""Rows by the path of the key."""

FATES: Mapping[tuple[str, ...], FateRow] = {
    tuple(path.split(".")): FateRow(*row) for path, row in _ROWS.items()
}

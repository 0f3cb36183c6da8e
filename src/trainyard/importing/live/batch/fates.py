"""What becomes of answers about AWS Batch that a template has no property for."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.importing.batch_jobs.fates import OF_REQUEST, fates_below
from trainyard.importing.report import FateRow

CALLS: Mapping[str, str] = {
    "DescribeComputeEnvironments": "computeEnvironments",
    "DescribeJobQueues": "jobQueues",
    "DescribeJobDefinitions": "jobDefinitions",
    "DescribeLaunchTemplateVersions": "LaunchTemplateVersions",
}
"""The list of its answer that has the objects, by call."""

FATES: Mapping[tuple[str, ...], FateRow] = {
    **{
        path: row
        for call, listed in CALLS.items()
        for path, row in fates_below(call, listed).items()
        if path[1] not in OF_REQUEST
    },
    ("DescribeRepositories",): FateRow("implied", "an adopted repository keeps it"),
    ("GetInstanceProfile",): FateRow(
        "implied", "the stack creates the role and the instance profile"
    ),
    ("ListAttachedRolePolicies",): FateRow("implied", "the stack creates the role"),
    ("GetRolePolicy",): FateRow(
        "not supported", "create a managed policy, and name it in `iam_policies` of what needs it"
    ),
    ("GetRolePolicy", "RoleName"): FateRow("implied", "the stack creates the role"),
}

"""No role of a cluster may do everything.

Why:
    Whatever runs on a node can ask for its role, and a job is anybody's code. With
    AdministratorAccess, or with the action `*` on the resource `*`, one job has the account: its
    data, its reservations and its bill.
Fix:
    Allow the actions that the workload calls, or attach a managed policy that is made for it, such
    as AmazonEKSWorkerNodePolicy or AmazonEC2ContainerServiceforEC2Role.
Source:
    https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html
    https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AdministratorAccess.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.iam import POLICY_HOLDERS, permissions
from policies.resources.props import Facts
from policies.resources.types import (
    IAM_GROUP_POLICY_ATTACHMENT,
    IAM_POLICY_ATTACHMENT,
    IAM_ROLE_POLICY_ATTACHMENT,
    IAM_USER_POLICY_ATTACHMENT,
)
from policies.rule import Config, on_types

_ATTACHMENTS = (
    IAM_GROUP_POLICY_ATTACHMENT,
    IAM_POLICY_ATTACHMENT,
    IAM_ROLE_POLICY_ATTACHMENT,
    IAM_USER_POLICY_ATTACHMENT,
)
_ADMINISTRATOR = ":iam::aws:policy/AdministratorAccess"


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    # The ARN of a policy that the program makes itself is not known yet, and is not this one.
    listed = range(facts.count("managedPolicyArns"))
    attached = [facts.get("managedPolicyArns", index) for index in listed]
    if any(str(arn).endswith(_ADMINISTRATOR) for arn in (*attached, facts.get("policyArn"))):
        yield (
            "it attaches AdministratorAccess, so whoever has the role has the account; attach a "
            "policy with the actions that are needed"
        )
    for permission in permissions(facts) if resource_type in POLICY_HOLDERS else ():
        everything = "*" in permission.actions or "*:*" in permission.actions
        if everything and "*" in permission.resources and not permission.conditional:
            yield (
                "it allows the action * on the resource *, so whoever has it has the account; "
                "name the actions that are needed"
            )


POLICY = ResourceValidationPolicy(
    name="iam-administrator",
    display_name="No role may do everything",
    description="No policy allows every action on every resource, and none attaches such a one.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.CRITICAL,
    tags=["security", "baseline"],
    remediation_steps="Name the actions that are needed.",
    url="https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html",
    validate=on_types(*_ATTACHMENTS, *POLICY_HOLDERS, check=_check),
)

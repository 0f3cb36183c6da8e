"""No policy allows every action on every resource, and no attachment grants such a policy.

Why:
    Every process on a node can use the node role. With AdministratorAccess, or with the action `*`
    on the resource `*`, one job controls the whole account: its data, its reservations and its
    costs.
Fix:
    Allow the actions that the workload calls, or attach a managed policy for it, such as
    AmazonEKSWorkerNodePolicy or AmazonEC2ContainerServiceforEC2Role.
Source:
    https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html
    https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AdministratorAccess.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.iam import POLICY_HOLDERS, permissions
from trainyard.policies.resources.props import Facts
from trainyard.policies.resources.types import (
    IAM_GROUP_POLICY_ATTACHMENT,
    IAM_POLICY_ATTACHMENT,
    IAM_ROLE_POLICY_ATTACHMENT,
    IAM_USER_POLICY_ATTACHMENT,
)
from trainyard.policies.rule import Config, resource_rule

_ATTACHMENTS = (
    IAM_GROUP_POLICY_ATTACHMENT,
    IAM_POLICY_ATTACHMENT,
    IAM_ROLE_POLICY_ATTACHMENT,
    IAM_USER_POLICY_ATTACHMENT,
)
_ADMINISTRATOR = ":iam::aws:policy/AdministratorAccess"


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    # The ARN of a policy that the program creates is unknown, and is another policy.
    listed = range(facts.count("managedPolicyArns"))
    attached = [facts.get("managedPolicyArns", index) for index in listed]
    if any(str(arn).endswith(_ADMINISTRATOR) for arn in (*attached, facts.get("policyArn"))):
        yield (
            "it attaches AdministratorAccess, which gives control of the account; attach a policy "
            "with the actions that are needed"
        )
    for permission in permissions(facts) if resource_type in POLICY_HOLDERS else ():
        everything = "*" in permission.actions or "*:*" in permission.actions
        if everything and "*" in permission.resources and not permission.conditional:
            yield (
                "it allows the action * on the resource *, which gives control of the account; "
                "name the actions that are needed"
            )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.CRITICAL,
    tags=["baseline"],
    types=(*_ATTACHMENTS, *POLICY_HOLDERS),
    check=_check,
)

"""Checks of the IAM policies that a stack file names.

Sources:
    https://docs.aws.amazon.com/IAM/latest/APIReference/API_AttachRolePolicy.html: the ARN must be
    exact; `PolicyNotAttachable` for policies of service-linked roles
    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html: the path is part of
    an ARN
"""

from __future__ import annotations

from collections.abc import Iterator

from components.account.named_facts import PolicyFacts
from components.checks.noun import NamedContext
from components.config.named import Named, names_in
from components.config.problems import ROOT, Problem
from components.config.review import Review
from components.config.stack import StackConfig
from components.naming import is_customer_policy

_SERVICE_LINKED = "aws-service-role/"


def review_policies(config: StackConfig, review: Review) -> None:
    """Refuse policies that IAM attaches to service-linked roles only."""
    for use in names_in(config):
        path = use.name.rpartition(":policy/")[2]
        if use.kind == "iam-policy" and path.startswith(_SERVICE_LINKED):
            review.refuse(
                use.key,
                "is a policy of a service-linked role, which IAM attaches to no other role",
                found=use.name,
                allowed=f"a policy whose path does not begin with {_SERVICE_LINKED}",
                remedy="remove it, or set another policy",
            )


def policy_problems(
    use: Named, found: PolicyFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield why IAM would not attach the policy."""
    path = f"{ROOT}.{use.key}"
    if found is None and is_customer_policy(use.name):
        yield Problem(
            path=path,
            found=use.name,
            problem="IAM has no customer managed policy of this ARN; `up` would fail to attach it",
            allowed="the ARN of a policy of the account, with its path",
            remedy="copy an ARN from `aws iam list-policies --scope Local`",
        )
    elif found is None:
        yield Problem(
            path=path,
            found=use.name,
            problem="AWS has no managed policy of this name; `up` would fail to attach it",
            allowed="the name of an AWS managed policy, with its path",
            remedy="copy a name from `aws iam list-policies --scope AWS`",
        )
    elif found.name != use.name:
        yield Problem(
            path=path,
            found=use.name,
            problem=(
                f"AWS has this policy only as {found.name}: the path is part of the ARN, and `up` "
                "would fail to attach another one"
            ),
            allowed=found.name,
            remedy=f"write {found.name}",
        )
    elif not found.attachable:
        yield Problem(
            path=path,
            found=use.name,
            problem="IAM does not attach this policy to a role",
            allowed="a policy with IsAttachable: true",
            remedy="remove it, or give another policy",
        )

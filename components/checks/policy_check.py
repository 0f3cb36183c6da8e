"""Checks of the IAM policies that a stack file names.

Sources:
    https://docs.aws.amazon.com/IAM/latest/APIReference/API_AttachRolePolicy.html: the ARN must be
    exact
    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html: the path is part of
    an ARN
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.named_facts import PolicyFacts
from trainyard.components.checks.noun import NamedContext
from trainyard.components.config.named import Named
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.naming import is_customer_policy


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

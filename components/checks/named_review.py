"""Checks of the IAM policies that a stack file names, without the account.

Source: https://docs.aws.amazon.com/IAM/latest/APIReference/API_AttachRolePolicy.html,
`PolicyNotAttachable`: policies of service-linked roles
"""

from __future__ import annotations

from components.config.named import names_in
from components.config.review import Review
from components.config.stack import StackConfig

_SERVICE_LINKED = "aws-service-role/"


def review_named(config: StackConfig, review: Review) -> None:
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

"""Checks of the ARNs in a stack file, for all architectures."""

from __future__ import annotations

from trainyard.components.config.named import names_in, texts_in
from trainyard.components.config.review import Review
from trainyard.components.config.stack import StackConfig
from trainyard.components.naming import partition

_FIELDS = frozenset(
    {
        "group_arn",
        "iam_policies",
        "kms_key_arn",
        "members",
        "provider_service_token",
        "resource_share_arn",
        "secrets_key_arn",
        "topic_arn",
        "workspace_arn",
    }
)
"""Fields with ARNs of resources that the stack uses itself."""

_SERVICE_LINKED = "aws-service-role/"


def review_arns(config: StackConfig, region: str, review: Review) -> None:
    """Refuse ARNs of another partition or region, whose resources the stack cannot use.

    An ARN of a global service, such as that of an IAM policy, has no region.

    Sources:
        https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
        https://docs.aws.amazon.com/kms/latest/developerguide/multi-region-keys-overview.html: a
        multi-Region key has an ARN in each region
    """
    for text in texts_in(config):
        key, arn = text.key, text.value
        if text.field not in _FIELDS or not arn.startswith("arn:"):
            continue
        _, own_partition, _, own_region, *_ = arn.split(":")
        if own_region not in ("", region):
            review.refuse(
                key,
                f"is in a different region from the stack, {region}, which cannot use it",
                found=arn,
                allowed=f"an ARN of {region}",
                remedy="set an ARN in this region, or change `aws:region`",
            )
        elif own_partition != partition(region):
            review.refuse(
                key,
                f"is of the partition {own_partition}, and {region} is in {partition(region)}",
                found=arn,
                allowed=f"an ARN that begins with arn:{partition(region)}:",
                remedy="set an ARN in this partition, or change `aws:region`",
            )


def review_policies(config: StackConfig, review: Review) -> None:
    """Refuse policies that IAM attaches to service-linked roles only.

    Source: https://docs.aws.amazon.com/IAM/latest/APIReference/API_AttachRolePolicy.html,
    `PolicyNotAttachable`.
    """
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

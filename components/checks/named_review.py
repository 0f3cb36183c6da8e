"""Checks of the AWS objects that a stack file names, without the account.

Sources:
    https://docs.aws.amazon.com/eks/latest/APIReference/API_Provider.html, `keyArn`: a key of the
    cluster's region; KMS keys encrypt only in their region,
    https://docs.aws.amazon.com/kms/latest/developerguide/multi-region-keys-overview.html
    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-customresource.html,
    `ServiceToken`: from the region of the stack
    https://docs.aws.amazon.com/IAM/latest/APIReference/API_AttachRolePolicy.html,
    `PolicyNotAttachable`: policies of service-linked roles
"""

from __future__ import annotations

from components.config.named import Named, names_in
from components.config.review import Review
from components.config.stack import StackConfig
from components.naming import partition

_REGIONAL = {
    "kms-key": "a KMS key encrypts only in its own region",
    "lambda-function": "CloudFormation calls only functions of its own region",
}
_SERVICE_LINKED = "aws-service-role/"


def review_named(config: StackConfig, region: str, review: Review) -> None:
    """Refuse keys and functions of another region, and policies that no role can have."""
    for use in names_in(config):
        if use.kind in _REGIONAL:
            _review_region(use, region, review)
        elif use.kind == "iam-policy" and use.name.startswith(_SERVICE_LINKED):
            review.refuse(
                use.key,
                "is a policy of a service-linked role, which IAM attaches to no other role",
                found=use.name,
                allowed=f"a policy whose path does not begin with {_SERVICE_LINKED}",
                remedy="remove it, or give another policy",
            )


def _review_region(use: Named, region: str, review: Review) -> None:
    place = (partition(region), region)
    _, its_partition, _, its_region, *_ = use.name.split(":")
    if (its_partition, its_region) != place:
        review.refuse(
            use.key,
            f"is of another region than the stack, {region}; {_REGIONAL[use.kind]}",
            found=use.name,
            allowed=f"an ARN of {region}",
            remedy=f"give one of {region}, or change `aws:region`",
        )

"""AWS managed policies of a role, as separate resources.

Policies in the role resource would be exclusive: the provider detaches all others.
https://www.pulumi.com/registry/packages/aws/api-docs/iam/role/
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pulumi
import pulumi_aws as aws


def attach_policies(
    name: str, role: aws.iam.Role, arns: Iterable[str], options: pulumi.ResourceOptions
) -> list[aws.iam.RolePolicyAttachment]:
    """Register one `<name>-<policy>` for each policy, without duplicates."""
    return [
        aws.iam.RolePolicyAttachment(
            f"{name}-{arn.rpartition('/')[2]}", role=role.name, policy_arn=arn, opts=options
        )
        for arn in dict.fromkeys(arns)
    ]


def once_made(
    value: pulumi.Output[str], policies: Sequence[pulumi.CustomResource]
) -> pulumi.Output[str]:
    """Return a value that resolves only after the policies are attached."""
    made = pulumi.Output.all(*(policy.id for policy in policies))
    return pulumi.Output.all(value, made).apply(lambda known: known[0])

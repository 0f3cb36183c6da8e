"""The instance profile of a node role, for launch templates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeInstanceProfileArgs:
    """Arguments of `NodeInstanceProfile`."""

    role_name: pulumi.Input[str]
    tags: Mapping[str, str]


class NodeInstanceProfile(pulumi.ComponentResource):
    """An instance profile with one role; EKS creates it for managed node groups.

    `aws-auth` and access entries use the ARN of the role, not of the profile.

    Children: `<name>-profile` (`aws.iam.InstanceProfile`).
    """

    arn: pulumi.Output[str]
    """ARN of the profile."""

    def __init__(
        self,
        name: str,
        args: NodeInstanceProfileArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:identity:NodeInstanceProfile", name, {}, opts)

        profile = aws.iam.InstanceProfile(
            f"{name}-profile",
            role=args.role_name,
            tags=dict(args.tags),
            opts=pulumi.ResourceOptions(parent=self),
        )

        self.arn = profile.arn
        self.register_outputs({"arn": self.arn})

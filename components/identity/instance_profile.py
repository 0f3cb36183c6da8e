"""The instance profile that hands a node role to the instances of a launch template."""

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
    """An instance profile around one role; only self-managed nodes need one of ours.

    The role's ARN, never the profile's, is what `aws-auth` and access entries name.

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

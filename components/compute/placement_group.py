"""The cluster placement group of a node group that has no reservation to place it.

Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPlacementGroupArgs:
    """Arguments of `ClusterPlacementGroup`."""

    tags: Mapping[str, str]


class ClusterPlacementGroup(pulumi.ComponentResource):
    """A placement group of the `cluster` strategy: instances close together in one zone.

    Whether a node group gets one is decided by `plan_placement`; an AWS-assisted reservation and
    a Capacity Block never do.

    Children: `<name>-group` (`aws.ec2.PlacementGroup`).
    """

    group_name: pulumi.Output[str]
    """Name of the group, which is what a launch template takes."""

    def __init__(
        self,
        name: str,
        args: ClusterPlacementGroupArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:compute:ClusterPlacementGroup", name, {}, opts)

        group = aws.ec2.PlacementGroup(
            f"{name}-group",
            strategy=aws.ec2.PlacementStrategy.CLUSTER,
            tags={"Name": name, **args.tags},
            opts=pulumi.ResourceOptions(parent=self),
        )

        self.group_name = group.name
        self.register_outputs({"group_name": self.group_name})

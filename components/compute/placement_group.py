"""The cluster placement group of a node group without a reservation.

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
    """A placement group with the `cluster` strategy: instances close together in one zone.

    `plan_placement` decides whether a node group gets one. AWS-assisted reservations and Capacity
    Blocks never do.

    Children: `<name>-group` (`aws.ec2.PlacementGroup`).
    """

    group_name: pulumi.Output[str]
    """Name of the group, for the launch template."""

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

"""A resource group of On-Demand Capacity Reservations.

Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from trainyard.components.naming import RESERVATION_GROUP, partition

POOL = "AWS::EC2::CapacityReservationPool"
GENERIC = "AWS::ResourceGroups::Generic"
RESERVATION = "AWS::EC2::CapacityReservation"
"""The only resource type in a group that launches can target.
https://docs.aws.amazon.com/ARG/latest/APIReference/about-slg-types.html"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservationGroupArgs:
    """Arguments of `ReservationGroup`."""

    members: Sequence[str]
    """Reservation ids, or ARNs; reservations shared by another account require the ARN."""
    region: str
    """Region of the stack, where the reservations are."""
    tags: Mapping[str, str]
    after: Sequence[pulumi.Resource] = ()
    """Accepted resource shares of other accounts, which make their reservations usable."""


class ReservationGroup(pulumi.ComponentResource):
    """A group of reservations that a launch template can target.

    Children: `<name>-group` (`aws.resourcegroups.Group`), `<name>-<reservation id>`
    (`aws.resourcegroups.Resource`) for each member.
    """

    arn: pulumi.Output[str]
    """ARN of the group. It resolves when the group contains every reservation, so that nodes launch
    afterwards and are deleted before the reservations leave the group."""

    def __init__(
        self,
        name: str,
        args: ReservationGroupArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:compute:ReservationGroup", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        member_options = pulumi.ResourceOptions(parent=self, depends_on=args.after)

        group = aws.resourcegroups.Group(
            f"{name}-group",
            name=f"{RESERVATION_GROUP}{name}",
            configurations=[
                aws.resourcegroups.GroupConfigurationArgs(type=POOL),
                aws.resourcegroups.GroupConfigurationArgs(
                    type=GENERIC,
                    parameters=[
                        aws.resourcegroups.GroupConfigurationParameterArgs(
                            name="allowed-resource-types", values=[RESERVATION]
                        )
                    ],
                ),
            ],
            tags={"Name": name, **args.tags},
            opts=child,
        )
        members = [
            aws.resourcegroups.Resource(
                f"{name}-{member.rpartition('/')[2]}",
                group_arn=group.arn,
                resource_arn=self._member_arn(member, args.region),
                opts=member_options,
            )
            for member in args.members
        ]

        filled = pulumi.Output.all(*(member.id for member in members))
        self.arn = pulumi.Output.all(group.arn, filled).apply(lambda values: values[0])
        self.register_outputs({"arn": self.arn})

    def _member_arn(self, member: str, region: str) -> pulumi.Input[str]:
        if member.startswith("arn:"):
            return member
        invoke = pulumi.InvokeOptions(parent=self)
        return pulumi.Output.format(
            "arn:{0}:ec2:{1}:{2}:capacity-reservation/{3}",
            partition(region),
            region,
            aws.get_caller_identity_output(opts=invoke).account_id,
            member,
        )

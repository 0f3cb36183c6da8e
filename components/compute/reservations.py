"""Reservations, groups and shares of reservations that a stack creates for its node pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import pulumi
import pulumi_aws as aws

from trainyard.components.capacity.plan import CreationPlan
from trainyard.components.compute.node_pool_plan import NodePoolPlan
from trainyard.components.naming import RESERVATION_GROUP, partition
from trainyard.components.tagging import RESERVATION_TAG

# An On-Demand Capacity Reservation that a stack creates for its nodes.
#
# Sources:
#     https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html
#     https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityReservationArgs:
    """Arguments of `CapacityReservation`."""

    plan: CreationPlan
    entry: str
    """Name in the stack file."""
    instance_type: str
    platform: str
    """Platform of the nodes, such as `Linux/UNIX`."""
    region: str
    tags: Mapping[str, str]


class CapacityReservation(pulumi.ComponentResource):
    """A targeted reservation: only instances that name it launch into it.

    With `deletion_protection`, the engine refuses to delete or replace it (`protect`), and even a
    forced deletion keeps it in the account (`retain_on_delete`). EC2 changes its number of
    instances and its end in place, but not its type, platform, zone or placement group.

    Children: `<name>-reservation` (`aws.ec2.CapacityReservation`).
    """

    reservation_id: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: CapacityReservationArgs,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("trainyard:compute:CapacityReservation", name, {}, opts)
        plan = args.plan
        made = aws.ec2.CapacityReservation(
            f"{name}-reservation",
            instance_type=args.instance_type,
            instance_platform=args.platform,
            availability_zone=plan.availability_zone,
            instance_count=plan.instance_count,
            instance_match_criteria="targeted",
            tenancy="default",
            end_date_type="unlimited" if plan.ends_at is None else "limited",
            end_date=plan.ends_at and f"{plan.ends_at:%Y-%m-%dT%H:%M:%SZ}",
            placement_group_arn=self._placement_group_arn(args),
            tags={"Name": name, **args.tags, RESERVATION_TAG: args.entry},
            opts=pulumi.ResourceOptions(
                parent=self,
                protect=plan.deletion_protection,
                retain_on_delete=plan.deletion_protection,
                # EC2 cannot move a reservation to another group; the provider would not say so.
                replace_on_changes=["placementGroupArn"],
            ),
        )
        self.reservation_id = made.id
        self.register_outputs({"reservation_id": self.reservation_id})

    def _placement_group_arn(self, args: CapacityReservationArgs) -> pulumi.Input[str] | None:
        if args.plan.placement_group is None:
            return None
        return pulumi.Output.format(
            "arn:{0}:ec2:{1}:{2}:placement-group/{3}",
            partition(args.region),
            args.region,
            aws.get_caller_identity_output(opts=pulumi.InvokeOptions(parent=self)).account_id,
            args.plan.placement_group,
        )


# A resource group of On-Demand Capacity Reservations.
#
# Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html


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


def accept_shares(
    name: str, shares: Mapping[str, str], *, parent: pulumi.Resource
) -> list[pulumi.Resource]:
    """Accept every invitation once; return the resources that reservations depend on.

    Args:
        name: Prefix of the names.
        shares: ARNs of RAM shares, by the name of the reservation; several can use one share.
        parent: The architecture.
    """
    # An account that leaves a share loses the reservation until the owner invites it again.
    kept = pulumi.ResourceOptions(parent=parent, retain_on_delete=True)
    first: dict[str, str] = {}
    for reservation, share in shares.items():
        first.setdefault(share, reservation)  # one share can contain several reservations
    return [
        aws.ram.ResourceShareAccepter(f"{name}-{reservation}-share", share_arn=share, opts=kept)
        for share, reservation in first.items()
    ]


class PlanWithPools(Protocol):
    """Fields of a stack's plan that the reservations need; each architecture has its own plan."""

    @property
    def node_pools(self) -> Sequence[NodePoolPlan]:
        """All node pools."""
        ...

    @property
    def region(self) -> str:
        """Region of the stack."""
        ...

    @property
    def tags(self) -> Mapping[str, str]:
        """Tags of the reservations and groups."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeReservations:
    """What a stack has created, by the name in the stack file."""

    ids: Mapping[str, pulumi.Output[str]]
    """Of reservations."""
    group_arns: Mapping[str, pulumi.Output[str]]
    """Of groups of reservations."""


def make_reservations(
    name: str,
    plan: PlanWithPools,
    *,
    platform: str,
    opts: pulumi.ResourceOptions,
    after: Sequence[pulumi.Resource] = (),
) -> MadeReservations:
    """Create the reservations and groups of the node pools of a plan.

    Node pools with the same entry share one; the review of the stack file ensures that those of a
    reservation have one instance type.

    Args:
        name: Prefix of the names.
        plan: Plan of the stack.
        platform: Platform of its nodes.
        opts: Resource options for a child.
        after: Shares of other accounts that must be accepted before their reservations are added to
            a group.
    """
    used = {pool.capacity.purchase_option: pool for pool in plan.node_pools}
    return MadeReservations(
        ids={
            entry: CapacityReservation(
                f"{name}-{entry}",
                CapacityReservationArgs(
                    plan=pool.capacity.creation,
                    entry=entry,
                    instance_type=pool.instance_type.name,
                    platform=platform,
                    region=plan.region,
                    tags=plan.tags,
                ),
                opts,
            ).reservation_id
            for entry, pool in used.items()
            if pool.capacity.creation is not None
        },
        group_arns={
            entry: ReservationGroup(
                f"{name}-{entry}",
                ReservationGroupArgs(
                    members=pool.capacity.reservation_group_members,
                    region=plan.region,
                    tags=plan.tags,
                    after=after,
                ),
                opts,
            ).arn
            for entry, pool in used.items()
            if pool.capacity.reservation_group_members
        },
    )

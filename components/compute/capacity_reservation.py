"""An On-Demand Capacity Reservation that a stack creates for its nodes.

Sources:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from trainyard.components.capacity.plan import CreationPlan
from trainyard.components.naming import partition
from trainyard.components.tagging import RESERVATION_TAG


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

"""Capacity reservations that node pools may launch into.

Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-reservations.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from components.config.base import (
    ARN_PARTITION,
    ARN_REGION,
    Form,
    PlacementGroupName,
    ReservationId,
    StrictModel,
    UtcTime,
    Zone,
)

Provenance = Literal["own", "aws-assisted", "auto"]
# Resource Groups has no regions with four letters before the first hyphen.
_REGION = r"[a-z]{2}(?:-[a-z]{1,20}){1,2}-\d"
GroupArn = Annotated[
    str,
    Form(
        # https://docs.aws.amazon.com/ARG/latest/APIReference/API_GroupResources.html, `Group`
        pattern=(
            rf"arn:{ARN_PARTITION}:resource-groups:{_REGION}:\d{{12}}:group/"
            r"(?:[A-Za-z0-9_.-]{1,300}|[A-Za-z0-9_.-]{1,150}/[a-z0-9]{26})"
        ),
        expected="the ARN of a resource group of capacity reservations",
        example="arn:aws:resource-groups:us-west-2:123456789012:group/training",
    ),
]
Member = Annotated[
    str,
    Form(
        pattern=(
            rf"(?:arn:{ARN_PARTITION}:ec2:{_REGION}:\d{{12}}:capacity-reservation/)?"
            r"cr-[0-9a-f]{17}"
        ),
        expected="the id of a capacity reservation (`cr-` and 17 hexadecimal digits), or its ARN",
        example="cr-0123456789abcdef0",
    ),
]
# https://docs.aws.amazon.com/ram/latest/APIReference/API_ResourceShare.html
ShareArn = Annotated[
    str,
    Form(
        pattern=rf"arn:{ARN_PARTITION}:ram:{ARN_REGION}:\d{{12}}:resource-share/[0-9a-f-]{{36}}",
        expected="the ARN of a resource share of AWS RAM",
        example=(
            "arn:aws:ram:us-west-2:123456789012:resource-share/01234567-89ab-cdef-0123-456789abcdef"
        ),
    ),
]
InstanceCount = Annotated[int, Field(ge=1)]


class _Reservation(StrictModel):
    instance_count: InstanceCount | None = None
    """Instances in the reservation. Node pools that use it may not ask for more together; left
    out, only the account check compares."""


class _OnDemandReservation(_Reservation):
    provenance: Provenance = "own"
    """`own`: made in this account or its organization, in the customer's own way. `aws-assisted`:
    made by AWS for the customer, inside a placement group of AWS's own. `auto`: read from the
    account, with the placement group of an own reservation; until it can be read, no placement
    group is assumed."""
    placement_group: PlacementGroupName | None = None
    """Name of the customer's cluster placement group that the reservation was made in."""
    resource_share_arn: ShareArn | None = None
    """Resource share (AWS RAM) of another account's reservation that the stack accepts before it
    uses the reservation; left out, it was accepted by hand, or none is needed. Stacks of
    ParallelCluster and AWS Batch only."""

    @model_validator(mode="after")
    def _auto_reads_the_group(self) -> Self:
        if self.provenance == "auto" and self.placement_group is not None:
            raise PydanticCustomError(
                "contradiction",
                "names the placement group `{group}`, but `provenance: auto` reads it",
                {
                    "key": "placement_group",
                    "group": self.placement_group,
                    "why": "what the account says could be another group",
                    "allowed": "no `placement_group`, or `provenance: own`",
                    "remedy": "remove `placement_group`, or set `provenance: own`",
                },
            )
        return self

    @model_validator(mode="after")
    def _aws_assisted_has_a_group_of_its_own(self) -> Self:
        if self.provenance == "aws-assisted" and self.placement_group is not None:
            raise PydanticCustomError(
                "contradiction",
                "names the placement group `{group}`, but the reservation is `aws-assisted`",
                {
                    "key": "placement_group",
                    "group": self.placement_group,
                    "why": (
                        "AWS made the reservation in a placement group of its own; instances "
                        "that ask for a second one fail with InsufficientInstanceCapacity"
                    ),
                    "allowed": "no `placement_group`, or `provenance: own`",
                    "remedy": (
                        "remove `placement_group`; if AWS delivered the capacity into a group "
                        "that you own, set `provenance: own`"
                    ),
                },
            )
        return self


class Odcr(_OnDemandReservation):
    """An On-Demand Capacity Reservation (ODCR), targeted by its id."""

    kind: Literal["odcr"]
    """One On-Demand Capacity Reservation."""
    reservation_id: ReservationId
    """The reservation, `cr-` and 17 hexadecimal digits."""
    availability_zone: Zone | None = None
    """Zone of the reservation, by name or zone id; nodes launch only there. Left out, it is read
    from the account."""


class OdcrGroup(_OnDemandReservation):
    """A resource group of On-Demand Capacity Reservations; give its ARN or its members."""

    kind: Literal["odcr-group"]
    """A group of On-Demand Capacity Reservations."""
    group_arn: GroupArn | None = None
    """ARN of a group that exists."""
    members: Annotated[tuple[Member, ...], Field(min_length=1)] | None = None
    """Reservations from which the stack makes and fills a group, by id, or by ARN where another
    account shares them; with the account at hand an id is enough for those too."""
    availability_zone: Zone | None = None
    """Zone of the reservations, where all lie in one; nodes launch only there."""

    @model_validator(mode="after")
    def _arn_or_members(self) -> Self:
        if (self.group_arn is None) == (self.members is None):
            both = self.group_arn is not None
            raise PydanticCustomError(
                "contradiction",
                "has {state}",
                {
                    "key": "group_arn",
                    "state": "both `group_arn` and `members`" if both else "no reservations",
                    "why": "the group either exists or is made from its members",
                    "allowed": "exactly one of `group_arn` and `members`",
                    "remedy": "remove one of them" if both else "give one of them",
                },
            )
        return self


class CapacityBlock(_Reservation):
    """An EC2 Capacity Block for ML, bought for a time."""

    kind: Literal["capacity-block"]
    """A Capacity Block for ML."""
    reservation_id: ReservationId
    """The reservation of the block, `cr-` and 17 hexadecimal digits."""
    availability_zone: Zone | None = None
    """Zone the block was bought in, by name or zone id; nodes launch only there. Left out, it is
    read from the account."""
    starts_at: UtcTime | None = None
    """Start of the block, RFC 3339. Before it no node is wanted, and `up` does not wait for one."""
    ends_at: UtcTime | None = None
    """End of the block, RFC 3339. Nodes are scaled in 40 minutes earlier; EC2 begins to terminate
    them 30 minutes before the end."""

    @model_validator(mode="after")
    def _starts_before_it_ends(self) -> Self:
        if self.starts_at and self.ends_at and self.starts_at >= self.ends_at:
            raise PydanticCustomError(
                "contradiction",
                "is not after `starts_at`, {start}",
                {
                    "key": "ends_at",
                    "start": self.starts_at.isoformat(),
                    "why": "a block ends after it starts",
                    "allowed": f"a time after {self.starts_at.isoformat()}",
                    "remedy": "copy StartDate and EndDate of the reservation",
                },
            )
        return self


Reservation = Annotated[Odcr | OdcrGroup | CapacityBlock, Field(discriminator="kind")]

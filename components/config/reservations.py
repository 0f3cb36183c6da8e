"""Capacity reservations that node pools may launch into.

Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-reservations.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from trainyard.components.config.base import (
    ARN_PARTITION,
    ARN_REGION,
    EffectiveWith,
    Form,
    PlacementGroupName,
    ReservationId,
    StrictModel,
    Switch,
    UtcTime,
    Zone,
    is_zone_id,
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
    """Number of instances in the reservation. All node pools that use it must fit into it together.
    If omitted, only the account check compares them."""

    @property
    def is_created(self) -> bool:
        """Whether the stack creates the reservation."""
        return False


class _OnDemandReservation(_Reservation):
    provenance: Provenance = "own"
    """Who created the reservation. `own`: you, in this account or its organization. `aws-assisted`:
    AWS, in a placement group that AWS owns. `auto`: read from the account, together with the
    placement group of an own reservation; until it can be read, the program assumes no placement
    group."""
    placement_group: PlacementGroupName | None = None
    """Name of your cluster placement group in which you created the reservation."""
    resource_share_arn: ShareArn | None = None
    """ARN of the AWS RAM resource share of another account's reservation, which the stack accepts
    before it uses the reservation. Omit it if the share is already accepted or not needed.
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
                    "why": "the account can have a different group",
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
                        "AWS created the reservation in its own placement group; instances in a "
                        "second one fail with InsufficientInstanceCapacity"
                    ),
                    "allowed": "no `placement_group`, or `provenance: own`",
                    "remedy": (
                        "remove `placement_group`; if AWS delivered the capacity into a group "
                        "that you own, set `provenance: own`"
                    ),
                },
            )
        return self


_OF_A_CREATED_ONE = EffectiveWith(
    (Switch("create"),),
    why="the stack does not create the reservation, and changes and deletes no existing one",
)


class Odcr(_OnDemandReservation):
    """An On-Demand Capacity Reservation (ODCR), targeted by its id."""

    kind: Literal["odcr"]
    """One On-Demand Capacity Reservation."""
    reservation_id: ReservationId | None = None
    """ID of an existing reservation, `cr-` and 17 hexadecimal digits, instead of `create`."""
    create: bool = False
    """Whether the stack creates the reservation, for the instance type and the platform of its
    nodes, `targeted`, so that only nodes that name it use it. EC2 charges for it from then on, used
    or not. Requires `instance_count` and `availability_zone`; `placement_group` is then an existing
    cluster placement group in which it is created."""
    availability_zone: Zone | None = None
    """Zone of the reservation, by name or zone id; by name with `create`. Nodes launch only there.
    If omitted, it is read from the account."""
    ends_at: Annotated[UtcTime | None, _OF_A_CREATED_ONE] = None
    """End of a reservation that the stack creates, RFC 3339. EC2 then releases its capacity; its
    instances go on at the On-Demand price. If omitted, it has no end."""
    deletion_protection: Annotated[bool, _OF_A_CREATED_ONE] = True
    """Whether `destroy` keeps a reservation that the stack creates, and updates that would replace
    it fail."""

    @property
    def is_created(self) -> bool:
        """Whether the stack creates the reservation."""
        return self.create

    @model_validator(mode="after")
    def _id_or_create(self) -> Self:
        if self.create and self.reservation_id is not None:
            raise PydanticCustomError(
                "contradiction",
                "is given together with `create`",
                {
                    "key": "reservation_id",
                    "why": "the stack either uses an existing reservation or creates one",
                    "allowed": "exactly one of `reservation_id` and `create: true`",
                    "remedy": "remove one of them",
                },
            )
        if not self.create and self.reservation_id is None:
            raise PydanticCustomError("needed", "is missing", {"key": "reservation_id"})
        return self

    @model_validator(mode="after")
    def _can_be_created(self) -> Self:
        if not self.create:
            return self
        for key, missing, what in (
            ("instance_count", self.instance_count is None, "a number of instances"),
            ("availability_zone", self.availability_zone is None, "one zone"),
        ):
            if missing:
                raise _not_created(key, "is missing", f"EC2 reserves {what}", f"set `{key}`")
        if self.availability_zone is not None and is_zone_id(self.availability_zone):
            raise _not_created(
                "availability_zone",
                "is a zone id",
                "the provider creates reservations in a zone by its name, such as us-west-2b",
                "set the name that `aws ec2 describe-availability-zones` shows for the id",
            )
        if self.provenance != "own":
            raise _not_created(
                "provenance",
                f"is `{self.provenance}`",
                "a reservation that the stack creates is your own",
                "remove `provenance`",
            )
        if self.resource_share_arn is not None:
            raise _not_created(
                "resource_share_arn",
                "names a resource share",
                "a reservation that the stack creates is in this account",
                "remove `resource_share_arn`",
            )
        return self


def _not_created(key: str, state: str, why: str, remedy: str) -> PydanticCustomError:
    return PydanticCustomError(
        "contradiction",
        "{state}, but `create` is true",
        {"key": key, "state": state, "why": why, "allowed": remedy, "remedy": remedy},
    )


class OdcrGroup(_OnDemandReservation):
    """A resource group of On-Demand Capacity Reservations, given by its ARN or its members."""

    kind: Literal["odcr-group"]
    """A group of On-Demand Capacity Reservations."""
    group_arn: GroupArn | None = None
    """ARN of an existing group, instead of `members`."""
    members: Annotated[tuple[Member, ...], Field(min_length=1)] | None = None
    """Reservations of a group that the stack creates, by id, or by ARN if another account shares
    them. If the program can read the account, the id is sufficient for shared reservations too."""
    availability_zone: Zone | None = None
    """Zone of the reservations, if all are in the same one. Nodes launch only there."""

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
                    "why": (
                        "the stack either uses an existing group or creates one from its members"
                    ),
                    "allowed": "exactly one of `group_arn` and `members`",
                    "remedy": "remove one of them" if both else "set one of them",
                },
            )
        return self


class CapacityBlock(_Reservation):
    """An EC2 Capacity Block for ML, purchased for a fixed period."""

    kind: Literal["capacity-block"]
    """A Capacity Block for ML."""
    reservation_id: ReservationId
    """ID of the Capacity Block's reservation, `cr-` and 17 hexadecimal digits."""
    availability_zone: Zone | None = None
    """Zone of the Capacity Block, by name or zone id. Nodes launch only there. If omitted, it is
    read from the account."""
    starts_at: UtcTime | None = None
    """Start of the Capacity Block, RFC 3339. Before it, the desired number of nodes is 0, and `up`
    does not wait for nodes."""
    ends_at: UtcTime | None = None
    """End of the Capacity Block, RFC 3339. The program scales nodes in 40 minutes before the end;
    EC2 begins to terminate them 30 minutes before the end. For UltraServers both are 30 minutes
    earlier."""
    upfront_fee_usd: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """What you paid for the Capacity Block in USD, with its extensions, for `cost` and `capacity
    list`. `capacity buy` sets it; EC2 does not tell it after the purchase."""

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
                    "remedy": "copy StartDate and EndDate from the reservation",
                },
            )
        return self


Reservation = Annotated[Odcr | OdcrGroup | CapacityBlock, Field(discriminator="kind")]

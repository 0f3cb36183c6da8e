"""Node pools, such as EKS node groups and Slurm compute resources, and their blocks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import Field, PrivateAttr, TypeAdapter, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from trainyard.components.config.base import (
    ARN_PARTITION,
    EffectiveWith,
    Form,
    InstanceTypeName,
    NodePoolName,
    PlacementGroupName,
    StrictModel,
    SubnetId,
    Switch,
    Zone,
)
from trainyard.components.config.problems import Review
from trainyard.components.config.reservations import CapacityBlock, Reservation

# https://docs.aws.amazon.com/IAM/latest/APIReference/API_Policy.html, `PolicyName` and `Path`
_POLICY = r"(?:[\w+=,.@-]{1,128}/){0,4}[\w+=,.@-]{1,128}"
PolicyName = Annotated[
    str,
    Form(
        pattern=rf"{_POLICY}|arn:{ARN_PARTITION}:iam::(?:aws|\d{{12}}):policy/{_POLICY}",
        expected=(
            "the name of an AWS managed policy, with its path if it has one, or the ARN of a "
            "policy of AWS or your own"
        ),
        example="CloudWatchAgentServerPolicy",
        names="iam-policy",
    ),
]
KeyName = Annotated[
    str,
    Form(
        pattern=r"[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?",
        expected="the name of an EC2 key pair: at most 255 ASCII characters",
        example="training-key",
    ),
]


class RootVolume(StrictModel):
    """The root volume of a node: gp3, always encrypted."""

    # https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateEbsBlockDeviceRequest.html
    size_gib: Annotated[int, Field(ge=20, le=65536)] = 500
    """Size in GiB, on ParallelCluster at most 16384. Container images for training are large."""
    iops: Annotated[int, Field(ge=3000, le=80000)] = 3000
    """Provisioned IOPS, on ParallelCluster at most 16000."""
    throughput_mibps: Annotated[int, Field(ge=125, le=2000)] = 125
    """Throughput in MiB/s, on ParallelCluster at most 1000."""

    @model_validator(mode="after")
    def _performance_fits(self) -> Self:
        # https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html: a gp3 volume has at
        # most 500 IOPS per GiB and 0.25 MiB/s per provisioned IOPS.
        if self.iops > 500 * self.size_gib:
            raise _too_much("iops", 500 * self.size_gib, "for this size", "size_gib")
        if self.throughput_mibps > self.iops // 4:
            raise _too_much("throughput_mibps", self.iops // 4, "for these IOPS", "iops")
        return self


def _too_much(key: str, most: int, reason: str, other: str) -> PydanticCustomError:
    return PydanticCustomError(
        "contradiction",
        "is more than EBS supports for a gp3 volume with these settings",
        {
            "key": key,
            "why": "EC2 would not launch any node",
            "allowed": f"at most {most} {reason}",
            "remedy": f"set {key}: {most}, or raise `{other}`",
        },
    )


class Placement(StrictModel):
    """The cluster placement group of a node pool."""

    group: Literal["auto", "none", "create", "existing"] = "auto"
    """Which placement group to use. `auto` depends on the capacity: none for a Capacity Block and
    for an `aws-assisted` reservation, the group of the reservation if it has one, a new group for
    On-Demand training nodes with EFA. `create` and `existing` always use a group, `none` never
    does."""
    name: PlacementGroupName | None = None
    """Name of the placement group. Required with `group: existing`, and valid only there."""

    @model_validator(mode="after")
    def _name_belongs_to_existing(self) -> Self:
        if (self.group == "existing") != (self.name is not None):
            given = self.name is not None
            raise PydanticCustomError(
                "contradiction",
                "is given with `group: {group}`" if given else "is missing",
                {
                    "key": "name",
                    "group": self.group,
                    "why": "`name` applies to existing placement groups only",
                    "allowed": "a name with `group: existing`, none otherwise",
                    "remedy": (
                        "set `group: existing` to use it, or remove `name`"
                        if given
                        else "set the name of the group, or use `group: create`"
                    ),
                },
            )
        return self


class NodeSizes(StrictModel):
    """Number of nodes."""

    minimum: Annotated[int, Field(ge=0)] = 0
    """Minimum number of nodes."""
    desired: Annotated[int, Field(ge=0)]
    """Desired number of nodes."""
    maximum: Annotated[int, Field(ge=1)]
    """Maximum number of nodes."""

    def _ordered(self) -> str:
        change = "change `minimum`, `desired` or `maximum`"
        if self.minimum > self.maximum:
            return change
        return f"set desired: {min(max(self.minimum, self.desired), self.maximum)}, or {change}"

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not self.minimum <= self.desired <= self.maximum:
            raise PydanticCustomError(
                "contradiction",
                "is not between minimum {minimum} and maximum {maximum}",
                {
                    "key": "desired",
                    "minimum": self.minimum,
                    "maximum": self.maximum,
                    "why": "Auto Scaling rejects other sizes",
                    "allowed": "minimum <= desired <= maximum",
                    "remedy": self._ordered(),
                },
            )
        return self


class BlockNodes(StrictModel):
    """Nodes that can launch into several Capacity Blocks."""

    further_blocks: tuple[NodePoolName, ...] = ()
    """Other Capacity Blocks of these nodes, by the names of their entries in `reservations`: blocks
    after the one in `purchase_option`, or at the same time. Each has separate nodes, named
    `NAME-ENTRY`, with the same settings and numbers, in the zone of the block."""
    _pool: str = PrivateAttr("")

    def pool_named(self, name: str) -> str:
        """Return the name in the stack file of nodes with a name in the plan."""
        return self._pool or name

    def in_block(self, name: str, block: str) -> Self:
        """Return the nodes in one of `further_blocks`, which launch in the zone of the block.

        Args:
            name: Name of these nodes in the stack file.
            block: The entry of `reservations`.
        """
        zone = {"availability_zone": None} if "availability_zone" in type(self).model_fields else {}
        update = {"purchase_option": block, "further_blocks": (), **zone}
        copy = self.model_copy(update=update)
        copy._pool = name  # noqa: SLF001 - of its own class
        return copy


class NodePool(BlockNodes):
    """Nodes of one instance type and purchase option. Each architecture adds their number."""

    instance_type: InstanceTypeName
    """EC2 instance type. Changing it replaces the nodes."""
    purchase_option: NodePoolName = "on-demand"
    """`on-demand`, `spot`, or the name of an entry of `reservations`."""
    efa_enabled: bool = False
    """Whether nodes use every EFA interface of their instance type. They then launch in one zone.
    """
    interface_layout: Annotated[
        Literal["efa-only", "efa"],
        EffectiveWith((Switch("efa_enabled"),), why="the nodes have no EFA interfaces"),
    ] = "efa-only"
    """Type of the EFA interfaces. `efa-only`: EFA interfaces without IP addresses, in addition to
    one primary interface, so that a node uses one IP address. `efa`: every network card has an
    `efa` interface with its own IP address."""
    workload: Literal["training", "inference"] | None = None
    """What runs on the nodes. If omitted, `training` if EFA is on, otherwise `inference`."""
    placement: Placement = Placement.defaults()
    """The cluster placement group."""
    availability_zone: Zone | None = None
    """Zone to launch in, by name or zone id. If omitted, the zone of the reservation, if any."""
    subnet_id: SubnetId | None = None
    """Private subnet to launch in, instead of `availability_zone`."""
    root_volume: RootVolume = RootVolume.defaults()
    """The root volume."""
    local_nvme: Literal["raid0", "none"] = "raid0"
    """Use of the NVMe instance store volumes: one RAID 0 array (on EKS for containers and kubelet
    data, on AWS Batch at `/scratch` for jobs), or none."""

    @property
    def is_training(self) -> bool:
        """Whether the nodes run a distributed training job."""
        return self.workload == "training" or (self.workload is None and self.efa_enabled)


# Node pools of all architectures, such as EKS node groups and Slurm compute resources.
#
# Checks of reservations, zones and instance types use them and do not depend on the architecture.


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Nodes of one instance type and purchase option."""

    name: str
    """For messages: the node group, or the queue and the compute resource."""
    key: str
    """Key in the stack file, relative to `trainyard:cluster`."""
    launch_key: str
    """Section and name of what has its zone and subnet: the pool itself, or its queue. For nodes in
    `further_blocks`, this is no key in the stack file."""
    instance_type: str
    purchase_option: str
    """Value in the stack file."""
    wanted: int
    """Number of nodes that must fit into the reservation, together with other pools."""
    wanted_key: str
    """Key of that number."""
    least: int
    """Minimum of that number."""
    maximum: int
    at_once: int
    """Number of nodes whose launch EC2 must accept during `up`."""
    at_once_keys: tuple[str, ...]
    """Keys to set to 0 so that `up` launches none; empty if it always tries to."""
    efa_enabled: bool
    placement: Placement
    availability_zone: str | None
    subnet_ids: tuple[str, ...]
    """Subnets in the stack file; empty if not set."""
    subnet_key: str
    """Key of those subnets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnNodes:
    """Nodes of an architecture outside of its pools, such as the head node."""

    key: str
    """Key in the stack file, relative to `trainyard:cluster`."""
    instance_type: str
    availability_zone: str | None = None
    """None if they launch in every zone of the network."""
    first_zone_only: bool = False
    """Whether nodes without a zone launch in the first zone of a new VPC only."""
    zone_remedy: str
    """The fix if EC2 does not offer the instance type in the zone."""


def pool_of(
    key: str,
    name: str,
    pool: NodePool,
    *,
    wanted: int,
    wanted_key: str,
    least: int,
    maximum: int,
    at_once: int,
    at_once_keys: tuple[str, ...],
) -> Pool:
    """Return the pool of a node group or compute environment, which has its own subnet.

    Args:
        key: Key of the section of the pools in the stack file, relative to `trainyard:cluster`.
        name: Name of the pool.
        pool: The pool.
        wanted: Number of nodes that must fit into the reservation.
        wanted_key: Key of that number in the pool.
        least: Minimum of that number.
        maximum: Maximum number of nodes.
        at_once: Number of nodes that `up` launches.
        at_once_keys: Keys of that number in the pool.
    """
    own = f"{key}.{pool.pool_named(name)}"
    return Pool(
        name=name,
        key=own,
        launch_key=f"{key}.{name}",
        instance_type=pool.instance_type,
        purchase_option=pool.purchase_option,
        wanted=wanted,
        wanted_key=f"{own}.{wanted_key}",
        least=least,
        maximum=maximum,
        at_once=at_once,
        at_once_keys=tuple(f"{own}.{each}" for each in at_once_keys),
        efa_enabled=pool.efa_enabled,
        placement=pool.placement,
        availability_zone=pool.availability_zone,
        subnet_ids=(pool.subnet_id,) if pool.subnet_id else (),
        subnet_key=f"{own}.subnet_id",
    )


# Node pools with several Capacity Blocks: separate nodes for each block.
#
# A Capacity Reservation Resource Group can have Capacity Blocks as members, but EKS,
# ParallelCluster and AWS Batch document only a single reservation for nodes in a Capacity Block.
# Each block also has a zone and a time of its own.
#
# Source:
#     https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-groups.html
#     https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
#     https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-capacity-blocks.html


_Nodes = TypeVar("_Nodes", bound=BlockNodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPools:
    """The reservations of a stack file, to which `further_blocks` refers."""

    reservations: Mapping[str, Reservation]
    review: Review

    def expand(
        self, section: str, pools: Mapping[str, _Nodes], name_type: Any, *, option: str = ""
    ) -> dict[str, _Nodes]:
        """Return node pools with one more for each of their further blocks, sorted by name.

        The name of a pool contains the name of its entry. It stays the same when blocks are added
        or removed, so that the nodes of the other blocks are not replaced.

        Args:
            section: Key of the pools in the stack file, relative to `trainyard:cluster`.
            pools: The pools.
            name_type: Type of their names.
            option: Purchase option of pools without one.
        """
        found = dict(pools)
        for name, pool in pools.items():
            if not pool.further_blocks:
                continue
            key = f"{section}.{name}.further_blocks"
            own = getattr(pool, "purchase_option") or option  # noqa: B009 - of both models
            self._review_own(key, own)
            for index, block in enumerate(pool.further_blocks):
                at = f"{key}[{index}]"
                earlier = (own, *pool.further_blocks[:index])
                if not self._is_further_block(at, block, earlier):
                    continue
                separate = f"{name}-{block}"
                if separate in pools:
                    self._refuse_name(at, separate, f"is the name of another entry of `{section}`")
                elif (fault := _name_fault(separate, name_type)) is not None:
                    self._refuse_name(at, separate, fault)
                else:
                    found[separate] = pool.in_block(name, block)
        return dict(sorted(found.items()))

    def _review_own(self, key: str, option: str) -> None:
        if option not in self.reservations or isinstance(self.reservations[option], CapacityBlock):
            return  # an unknown purchase option is refused with the other problems of the pool
        self.review.refuse(
            key,
            f"adds Capacity Blocks to nodes whose purchase option, `{option}`, is none",
            found=self.reservations[option].kind,
            allowed="further blocks with a Capacity Block as `purchase_option`",
            remedy=self.review.remove_command(key),
        )

    def _is_further_block(self, at: str, block: str, earlier: tuple[str, ...]) -> bool:
        blocks = [n for n, each in self.reservations.items() if isinstance(each, CapacityBlock)]
        others = [name for name in blocks if name not in earlier]
        if block in earlier:
            self.review.refuse(
                at,
                "is a block of these nodes already; its instances would count twice",
                found=block,
                allowed=", ".join(others) or "no further block",
                remedy=self.review.remove_command(at),
            )
        elif block not in blocks:
            self.review.refuse(
                at,
                "is not the name of a Capacity Block in `reservations`",
                found=block,
                allowed=", ".join(others) or "no further block: add it to `reservations` first",
                remedy=(
                    self.review.nearest_command(at, block, others)
                    if others
                    else self.review.remove_command(at)
                ),
            )
        return block in others

    def _refuse_name(self, at: str, separate: str, fault: str) -> None:
        self.review.refuse(
            at,
            f"gives its nodes the name `{separate}`, which {fault}",
            found=separate,
            remedy="rename the entry of `reservations`, or the nodes",
        )


def _name_fault(name: str, name_type: Any) -> str | None:
    try:
        TypeAdapter(name_type).validate_python(name)
    except ValidationError as error:
        return error.errors(include_url=False)[0]["msg"]
    return None

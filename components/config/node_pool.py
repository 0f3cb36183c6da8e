"""Models that EKS node groups, Slurm compute resources and Batch compute environments share."""

from typing import Annotated, Literal, Self

from pydantic import Field, PrivateAttr, model_validator
from pydantic_core import PydanticCustomError

from trainyard.components.config.base import (
    ARN_PARTITION,
    Form,
    InstanceTypeName,
    NodePoolName,
    PlacementGroupName,
    StrictModel,
    SubnetId,
    Zone,
)

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
            raise _too_much("iops", f"at most {500 * self.size_gib} for this size", "size_gib")
        if self.throughput_mibps > self.iops // 4:
            raise _too_much("throughput_mibps", f"at most {self.iops // 4} for these IOPS", "iops")
        return self


def _too_much(key: str, allowed: str, other: str) -> PydanticCustomError:
    return PydanticCustomError(
        "contradiction",
        "is more than EBS supports for a gp3 volume with these settings",
        {
            "key": key,
            "why": "EC2 would not launch any node",
            "allowed": allowed,
            "remedy": f"lower `{key}`, or raise `{other}`",
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
                    "remedy": "change `minimum`, `desired` or `maximum`",
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
    interface_layout: Literal["efa-only", "efa"] = "efa-only"
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

"""What the plans of the node pools of all architectures have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

from trainyard.components.capacity.plan import CapacityPlan, PlacementPlan
from trainyard.components.catalog.instance_types import InstanceType, Manufacturer
from trainyard.components.compute.interface_plan import InterfacePlan
from trainyard.components.config.node_pool import BlockNodes
from trainyard.components.config.node_pool import RootVolume as RootVolumeConfig

ROOT_DEVICE = "/dev/xvda"
"""Root device of the AMIs of Amazon Linux, which the EKS and ECS-optimized ones are based on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RootVolumePlan:
    """The encrypted EBS root volume of a node."""

    size_gib: int
    volume_type: Literal["gp3"] = "gp3"
    iops: int = 3000
    throughput_mibps: int = 125
    device_name: str = ROOT_DEVICE


def plan_root_volume(volume: RootVolumeConfig) -> RootVolumePlan:
    """Return the root volume of nodes from the stack file."""
    return RootVolumePlan(
        size_gib=volume.size_gib, iops=volume.iops, throughput_mibps=volume.throughput_mibps
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageSource:
    """Source of an AMI; exactly one of the three fields is set."""

    image_id: str | None = None
    parameter: str | None = None
    """Public SSM parameter with the AMI id."""
    name: str | None = None
    """Name prefix of an Amazon AMI."""

    def __str__(self) -> str:
        """Return the source, for messages."""
        return self.image_id or self.parameter or f"Amazon's {self.name}*"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePoolPlan(ABC):
    """Nodes of one instance type that launch in one way.

    An EKS node group, a Slurm compute resource or a Batch compute environment.
    """

    name: str
    config: BlockNodes
    """The pool in the stack file, from which resources read options that need no plan."""
    instance_type: InstanceType
    capacity: CapacityPlan
    placement: PlacementPlan
    interfaces: InterfacePlan | None
    """None without EFA: the launch template then has no network interfaces."""
    subnets: tuple[str, ...]
    """Private subnets, as references of the `NetworkPlan`; exactly one with EFA after the account
    was queried."""
    root_volume: RootVolumePlan | None
    """None if another program creates it."""
    ssh_key_name: str | None = None

    @property
    def pool(self) -> str:
        """Name in the stack file; another one than `name` for nodes in `further_blocks`."""
        return self.config.pool_named(self.name)

    @property
    @abstractmethod
    def key(self) -> str:
        """Key in the stack file, relative to `trainyard:cluster`."""

    @property
    @abstractmethod
    def image(self) -> ImageSource:
        """Source of the AMI."""

    @property
    def image_key(self) -> str:
        """Key in the stack file that decides on the AMI, relative to `trainyard:cluster`."""
        return f"{self.key}.instance_type"

    def may_install(self, driver: Manufacturer) -> bool:
        """Return whether a script of the nodes installs a driver, or may do so."""
        del driver
        return False

    def driver_remedy(self, driver: Manufacturer) -> str:
        """Return what to do if the AMI lacks a driver."""
        del driver
        return "update trainyard, which selects another AMI, or use another instance type"

    @property
    @abstractmethod
    def nodes(self) -> int:
        """Number of nodes that always launch."""

    @property
    @abstractmethod
    def most_nodes(self) -> int:
        """Maximum number of nodes; `nodes` if the number is fixed."""

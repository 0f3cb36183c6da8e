"""Facts about one EC2 instance type.

Source: the EC2 API `DescribeInstanceTypes`,
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceTypeInfo.html
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Manufacturer = Literal["nvidia", "neuron"]
"""Accelerator manufacturer: NVIDIA, or AWS for Neuron devices."""
InterfaceType = Literal["interface", "efa", "efa-only"]
Architecture = Literal["x86_64", "arm64"]
UsageClass = Literal["on-demand", "spot", "capacity-block"]


@dataclass(frozen=True, slots=True)
class NetworkCard:
    """One network card: number and types of its interfaces."""

    index: int
    maximum_interfaces: int
    interface_types: tuple[InterfaceType, ...]


@dataclass(frozen=True, slots=True)
class Accelerators:
    """The accelerators of an instance type, all of one model."""

    manufacturer: Manufacturer
    model: str
    count: int
    """Devices: GPUs, or Neuron devices."""
    memory_mib: int
    """Memory of one device."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceType:
    """One EC2 instance type."""

    name: str
    vcpus: int
    memory_mib: int
    architecture: Architecture
    accelerators: Accelerators | None
    local_nvme_disks: int
    local_nvme_gb: int
    """Total size of the instance store disks, in GB (10**9 bytes), from EC2."""
    network_cards: tuple[NetworkCard, ...]
    """In card order; card 0 first."""
    maximum_network_interfaces: int
    ipv4_addresses_per_interface: int
    efa_interfaces: int
    """`EfaInfo.MaximumEfaInterfaces`; 0 without EFA. Not the number of cards."""
    usage_classes: tuple[UsageClass, ...]
    cluster_placement_supported: bool
    """Whether instances can launch into a cluster placement group."""
    zone_ids: tuple[str, ...]
    """Zone ids (`use1-az4`) known to offer the type; other zones may offer it too."""

    @property
    def efa_supported(self) -> bool:
        """Whether the type has at least one EFA interface."""
        return self.efa_interfaces > 0

    @property
    def has_nvidia_gpus(self) -> bool:
        """Whether the type has GPUs that NVIDIA's driver runs."""
        return self.accelerators is not None and self.accelerators.manufacturer == "nvidia"

    @property
    def family(self) -> str:
        """The part before the dot, `p5` of `p5.48xlarge`."""
        return self.name.partition(".")[0]

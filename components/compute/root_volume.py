"""The record of a node's root volume."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trainyard.components.config.node_pool import RootVolume as RootVolumeConfig

ROOT_DEVICE = "/dev/xvda"
"""Root device of the AMIs of Amazon Linux, which the EKS and ECS-optimized ones are based on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RootVolume:
    """The encrypted EBS root volume of a node."""

    size_gib: int
    volume_type: Literal["gp3"] = "gp3"
    iops: int = 3000
    throughput_mibps: int = 125
    device_name: str = ROOT_DEVICE


def plan_root_volume(volume: RootVolumeConfig) -> RootVolume:
    """Return the root volume of nodes from the stack file."""
    return RootVolume(
        size_gib=volume.size_gib, iops=volume.iops, throughput_mibps=volume.throughput_mibps
    )

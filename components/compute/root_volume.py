"""The record of a node's root volume."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from components.config.node_pool import RootVolume as RootVolumeConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class RootVolume:
    """The encrypted EBS root volume of a node."""

    size_gib: int
    volume_type: Literal["gp3"] = "gp3"
    iops: int = 3000
    throughput_mibps: int = 125
    device_name: str = "/dev/xvda"


def plan_root_volume(volume: RootVolumeConfig) -> RootVolume:
    """Return the root volume of nodes from the stack file."""
    return RootVolume(
        size_gib=volume.size_gib, iops=volume.iops, throughput_mibps=volume.throughput_mibps
    )

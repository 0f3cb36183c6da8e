"""Checks that ParallelCluster accepts a root volume, and that it is large enough for the AMI.

Source: `EbsVolumeTypeSizeValidator`, `EbsVolumeIopsValidator`, `EbsVolumeThroughputValidator` and
`RootVolumeSizeValidator` of `aws-parallelcluster` 3.16.1.
"""

from __future__ import annotations

from trainyard.components.catalog.parallelcluster import MINIMUM_ROOT_VOLUME_GIB
from trainyard.components.config.node_pool import RootVolume
from trainyard.components.config.problems import Review
from trainyard.components.config.storage import IOPS, SIZES_GIB, THROUGHPUT_MIBPS

_LARGEST = {
    "size_gib": SIZES_GIB["gp3"][1],
    "iops": IOPS["gp3"].largest,
    "throughput_mibps": THROUGHPUT_MIBPS[1],
}
"""Largest value of each key that ParallelCluster accepts; EBS accepts larger ones."""


def review_root_volume(
    key: str, volume: RootVolume, custom_ami_id: str | None, review: Review
) -> None:
    """Refuse values that ParallelCluster does not accept, and volumes smaller than its own AMIs.

    The size of a custom AMI is read from the account.
    """
    for name, largest in _LARGEST.items():
        found = getattr(volume, name)
        if found > largest:
            review.refuse(
                f"{key}.root_volume.{name}",
                "is more than ParallelCluster accepts for a gp3 volume",
                found=found,
                allowed=f"at most {largest}",
                remedy=review.set_command(f"{key}.root_volume.{name}", str(largest)),
                rules=("E16",),
            )
    if custom_ami_id is not None or volume.size_gib >= MINIMUM_ROOT_VOLUME_GIB:
        return
    review.refuse(
        f"{key}.root_volume.size_gib",
        "is less than ParallelCluster's own AMIs need (RootVolumeSizeValidator)",
        found=volume.size_gib,
        allowed=f"{MINIMUM_ROOT_VOLUME_GIB} or more",
        remedy=review.set_command(f"{key}.root_volume.size_gib", str(MINIMUM_ROOT_VOLUME_GIB)),
        rules=("E16",),
    )

"""Checks that a root volume is large enough for the AMI."""

from __future__ import annotations

from components.catalog.parallelcluster import MINIMUM_ROOT_VOLUME_GIB
from components.config.node_pool import RootVolume
from components.config.review import Review


def review_root_volume(
    key: str, volume: RootVolume, custom_ami_id: str | None, review: Review
) -> None:
    """Refuse a volume smaller than the official AMIs; custom AMIs need the account."""
    if custom_ami_id is not None or volume.size_gib >= MINIMUM_ROOT_VOLUME_GIB:
        return
    review.refuse(
        f"{key}.root_volume.size_gib",
        "is less than ParallelCluster's own AMIs need (RootVolumeSizeValidator)",
        found=volume.size_gib,
        allowed=f"{MINIMUM_ROOT_VOLUME_GIB} or more",
        remedy=review.set_command(f"{key}.root_volume.size_gib", str(MINIMUM_ROOT_VOLUME_GIB)),
    )

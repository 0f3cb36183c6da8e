"""Root volumes and the size of their images."""

from __future__ import annotations

import pytest

from trainyard.components.config.node_pool import RootVolume
from trainyard.components.config.problems import Review
from trainyard.components.parallelcluster.root_volume_review import review_root_volume


@pytest.mark.parametrize(
    ("size_gib", "custom_ami_id", "refused"),
    [(45, None, False), (44, None, True), (20, "ami-0123456789abcdef0", False)],
)
def test_a_root_volume_holds_the_official_image(
    size_gib: int, custom_ami_id: str | None, *, refused: bool
):
    """Only the account knows the size of another image."""
    review = Review(stack_file="Pulumi.pc.yaml")
    review_root_volume("head", RootVolume(size_gib=size_gib), custom_ami_id, review)
    assert bool(review.problems) == refused


@pytest.mark.parametrize(
    ("volume", "refused"),
    [
        (RootVolume(size_gib=16384, iops=16000, throughput_mibps=1000), []),
        (RootVolume(size_gib=16385), ["size_gib"]),
        (RootVolume(iops=16001), ["iops"]),
        (RootVolume(iops=8000, throughput_mibps=1001), ["throughput_mibps"]),
        (
            RootVolume(size_gib=65536, iops=80000, throughput_mibps=2000),
            [
                "size_gib",
                "iops",
                "throughput_mibps",
            ],
        ),
    ],
)
def test_parallelcluster_accepts_less_than_ebs(volume: RootVolume, refused: list[str]):
    review = Review(stack_file="Pulumi.pc.yaml")
    review_root_volume("head_node", volume, None, review)
    assert [problem.path.rpartition(".")[2] for problem in review.problems] == refused

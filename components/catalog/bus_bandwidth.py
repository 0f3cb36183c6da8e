"""Bus bandwidth that an all-reduce within or between nodes must reach, by instance type.

Each figure is a threshold of a published test, or follows from a published measurement; a type
without a published figure has none. The bus bandwidth of two nodes is higher than that of more
nodes, because half of the traffic stays in the nodes.

Not used: the thresholds of `micro-benchmarks/nccl-tests` health check 5 in awsome-distributed-ai
(800 GB/s on p5.48xlarge) are higher than every published measurement (487 GB/s).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

GIB = 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class BandwidthFloor:
    """The lowest acceptable bus bandwidth of one instance type."""

    gb_per_second: float
    """As the test prints it: gigabytes (10^9) for nccl-tests, GiB for nccom-test."""
    message_bytes: int
    """Smallest message for which it holds."""
    nodes: int | None
    """Number of nodes for which it holds: one for the links within a node; None for any number from
    two on."""
    source: str


_PARALLELCLUSTER = (
    "https://github.com/aws/aws-parallelcluster, tests/integration-tests/tests/common/"
    "nccl_common.py: two nodes, 1 GiB, in place"
)


def _within(share_of: float, message_gib: int, board: str) -> BandwidthFloor:
    """Return the floor within a node: that of Azure, less a margin for another cloud."""
    return BandwidthFloor(
        gb_per_second=round(0.8 * share_of, 1),
        message_bytes=message_gib * GIB,
        nodes=1,
        source=f"80 % of the {share_of:g} GB/s in the health check of Azure for the same board, "
        f"https://github.com/Azure/azurehpc-health-checks, `check_nccl_allreduce` in {board}.conf",
    )


FLOORS: Mapping[str, tuple[BandwidthFloor, ...]] = {
    "p4d.24xlarge": (
        _within(228, 8, "nd96asr_v4"),
        BandwidthFloor(gb_per_second=26, message_bytes=GIB, nodes=2, source=_PARALLELCLUSTER),
    ),
    "p4de.24xlarge": (
        _within(228, 16, "nd96amsr_a100_v4"),
        BandwidthFloor(
            gb_per_second=62.4,
            message_bytes=2 * GIB,
            nodes=2,
            source="80 % of the 78 GB/s in https://github.com/awslabs/awsome-distributed-ai, "
            "micro-benchmarks/nccl-tests",
        ),
    ),
    "p5.48xlarge": (
        _within(460, 16, "nd96isr_h100_v5"),
        BandwidthFloor(
            gb_per_second=300,
            message_bytes=16 * GIB,
            nodes=None,
            source="https://github.com/NVIDIA/aicr, recipes/overlays/h100-eks-training.yaml, "
            "calibrated on p5.48xlarge with 32 EFA interfaces",
        ),
        BandwidthFloor(gb_per_second=250, message_bytes=GIB, nodes=2, source=_PARALLELCLUSTER),
    ),
    "p5e.48xlarge": (_within(431, 16, "nd96isr_h200_v5"),),
    "p5en.48xlarge": (_within(431, 16, "nd96isr_h200_v5"),),
    "p6-b200.48xlarge": (
        BandwidthFloor(gb_per_second=570, message_bytes=GIB, nodes=2, source=_PARALLELCLUSTER),
    ),
    "p6e-gb200.36xlarge": (
        BandwidthFloor(gb_per_second=650, message_bytes=GIB, nodes=2, source=_PARALLELCLUSTER),
    ),
    "trn1.32xlarge": (
        BandwidthFloor(
            gb_per_second=37.6,
            message_bytes=GIB,
            nodes=2,
            source="80 % of the 47.09 GB/s of the example with two instances in "
            "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/"
            "nccom-test.html",
        ),
    ),
}
"""By instance type, the strictest first."""


def bandwidth_floor(instance_type: str, *, nodes: int, message_bytes: int) -> BandwidthFloor | None:
    """Return the floor for an all-reduce of this size; None if no figure is published.

    Args:
        instance_type: Name of the type.
        nodes: Number of nodes.
        message_bytes: Size of the message that was measured.
    """
    return next(
        (
            floor
            for floor in FLOORS.get(instance_type, ())
            if message_bytes >= floor.message_bytes
            and (nodes == floor.nodes or (floor.nodes is None and nodes > 1))
        ),
        None,
    )

"""The collective tests: the accelerators of each, and the bus bandwidth that is right.

Sources:
    https://github.com/NVIDIA/nccl-tests
    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/tools/neuron-sys-tools/nccom-test.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from trainyard.components.catalog.instance_types import INSTANCE_TYPES, Manufacturer

JobTest = Literal["nccl-tests", "nccom-tests"]

_TESTS: tuple[tuple[JobTest, Manufacturer], ...] = (
    ("nccl-tests", "nvidia"),
    ("nccom-tests", "neuron"),
)
MAKERS: Mapping[str, Manufacturer] = MappingProxyType(dict(_TESTS))
"""Manufacturer of the accelerators, by the name of the test and its job."""
TESTS_BY_MAKER: Mapping[str, JobTest] = MappingProxyType({maker: name for name, maker in _TESTS})


# Bus bandwidth that an all-reduce must reach and can reach, within or between nodes.
#
# Each figure is a threshold of a published test, or follows from a published measurement; a type
# without a published figure has none. The bus bandwidth of two nodes is higher than that of more
# nodes, because half of the traffic stays in the nodes.
#
# Not used: the thresholds of `micro-benchmarks/nccl-tests` health check 5 in awsome-distributed-ai
# (800 GB/s on p5.48xlarge) are higher than every published measurement (487 GB/s).


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


GBIT_PER_GBYTE = 8
_TWO_NODES = 2
"""Of two nodes, each sends and receives the data once, so that an all-reduce takes at least its
size divided by the bandwidth of the network; the bus bandwidth is the size divided by the time,
times 2(n-1)/n for n processes: below 2. More nodes send more.

https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
"""
_LINKS: Mapping[str, float] = {
    "V100": 150,
    "A100": 300,
    "H100": 450,
    "H200": 450,
    "B200": 900,
    "B300": 900,
    "A10G": 32,
    "L4": 32,
    "L40S": 32,
    "T4": 16,
    "T4g": 16,
    "RTX PRO Server 6000": 64,
    "RTX PRO 4500": 64,
}
"""GB/s in one direction of the links between the GPUs of a node, by model: NVLink, or 16 lanes of
PCI Express. Half of the sum of both directions in NVIDIA's data sheets, for example
https://www.nvidia.com/en-us/data-center/h100/: 900 GB/s.
"""
_LINKED_NODES = frozenset({"p6e-gb200.36xlarge", "p6e-gb300.36xlarge", "trn2u.48xlarge"})
"""Types whose nodes are linked beside the network, in UltraServers.

https://aws.amazon.com/ec2/ultraservers/"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BandwidthCeiling:
    """The bus bandwidth that no all-reduce of an instance type can exceed."""

    gb_per_second: float
    why: str
    """What limits it, in words."""


def bandwidth_ceiling(instance_type: str, *, nodes: int) -> BandwidthCeiling | None:
    """Return the ceiling for an all-reduce of any size; None if nothing is known.

    Args:
        instance_type: Name of the type.
        nodes: Number of nodes: one for the links within a node, otherwise those between nodes.
    """
    found = INSTANCE_TYPES.get(instance_type)
    if found is None or found.accelerators is None:
        return None
    if nodes == 1:
        return _within_a_node(found.accelerators.model, found.accelerators.count)
    if instance_type in _LINKED_NODES or not found.network_gbps:
        return None
    gb_per_second = found.network_gbps / GBIT_PER_GBYTE
    return BandwidthCeiling(
        gb_per_second=_TWO_NODES * gb_per_second,
        why=f"the network of {instance_type} carries {found.network_gbps:g} Gbit/s, which are "
        f"{gb_per_second:g} GB/s, and the bus bandwidth of nodes is at most twice as much",
    )


def _within_a_node(model: str, count: int) -> BandwidthCeiling | None:
    link = _LINKS.get(model)
    if link is None or count == 1:
        return None
    return BandwidthCeiling(
        gb_per_second=round(_TWO_NODES * link * (count - 1) / count, 1),
        why=f"the links of {model} carry {link:g} GB/s in each direction, and the bus bandwidth of "
        f"{count} GPUs is less than twice as much",
    )

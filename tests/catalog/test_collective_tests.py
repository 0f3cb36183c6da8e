"""What an all-reduce can reach: more than every published measurement, less than line rates in
Gbit/s."""

from __future__ import annotations

import pytest

from trainyard.components.catalog.collective_tests import FLOORS, bandwidth_ceiling


@pytest.mark.parametrize(
    ("instance_type", "nodes", "measured"),
    [
        # https://github.com/awslabs/awsome-distributed-ai, micro-benchmarks/nccl-tests
        ("p5.48xlarge", 2, 487.09),
        ("p4de.24xlarge", 2, 78),
        # https://awsdocs-neuron.readthedocs-hosted.com, nccom-test
        ("trn1.32xlarge", 2, 47.09),
        # https://github.com/Azure/azurehpc-health-checks, of the same boards
        ("p5.48xlarge", 1, 460),
        ("p4d.24xlarge", 1, 228),
        *(
            (name, floor.nodes or 2, floor.gb_per_second)
            for name, all_ in FLOORS.items()
            for floor in all_
        ),
    ],
)
def test_published_measurements_are_possible(
    instance_type: str, nodes: int, measured: float
) -> None:
    ceiling = bandwidth_ceiling(instance_type, nodes=nodes)
    assert ceiling is None or measured < ceiling.gb_per_second


@pytest.mark.parametrize(
    ("instance_type", "gbps"),
    [
        # https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html, "Network bandwidth (Gbps)"
        ("p5.48xlarge", 3200),
        ("p5en.48xlarge", 3200),
        ("p6-b200.48xlarge", 3200),
        ("p4d.24xlarge", 400),
        ("trn1.32xlarge", 800),
        ("trn2.48xlarge", 3200),
        ("g5.48xlarge", 100),
        ("g4dn.8xlarge", 50),
    ],
)
def test_line_rates_in_gbit_are_no_bandwidth_in_gb(instance_type: str, gbps: int) -> None:
    ceiling = bandwidth_ceiling(instance_type, nodes=2)
    assert ceiling is not None
    assert gbps / 8 < ceiling.gb_per_second < gbps
    assert f"{gbps} Gbit/s" in ceiling.why
    assert f"{gbps / 8:g} GB/s" in ceiling.why


def test_a_node_is_not_limited_by_its_network() -> None:
    """NVLink 4 carries 900 GB/s in both directions: https://www.nvidia.com/en-us/data-center/h100/."""
    within = bandwidth_ceiling("p5.48xlarge", nodes=1)
    assert within is not None
    assert within.gb_per_second == 787.5
    pcie = bandwidth_ceiling("g5.12xlarge", nodes=1)
    assert pcie is not None
    assert pcie.gb_per_second == 48


@pytest.mark.parametrize(
    ("instance_type", "nodes"),
    [
        ("p6e-gb200.36xlarge", 2),
        ("trn2u.48xlarge", 4),
        ("trn1.32xlarge", 1),
        ("g4dn.8xlarge", 1),
        ("c5.2xlarge", 2),
        ("p99.48xlarge", 2),
    ],
)
def test_nothing_is_claimed_of_links_that_are_unknown(instance_type: str, nodes: int) -> None:
    assert bandwidth_ceiling(instance_type, nodes=nodes) is None

"""What `verify` says about logs, by stage."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.tracked import ROOT
from tests.trainyard.verify.test_collective_log import log
from trainyard.components.catalog.bus_bandwidth import FLOORS, GIB, bandwidth_floor
from trainyard.components.catalog.instance_types import instance_type
from trainyard.verify.collective_log import (
    CollectiveLog,
    Measurement,
    Provider,
    read_log,
    size_text,
)
from trainyard.verify.stages import PlannedNodes, Result, has_failed, judge


def nodes(type_name: str, count: int, **changes: Any) -> PlannedNodes:
    found = instance_type(type_name)
    assert found.accelerators is not None
    values = {"efa_interfaces": found.efa_interfaces, **changes}
    return PlannedNodes(
        instance_type=type_name, accelerators=found.accelerators, count=count, **values
    )


P5 = nodes("p5.48xlarge", 2)


def good_p5() -> CollectiveLog:
    """Return the log of a good run, with the lines that its source cuts off."""
    whole = log("p5-two-nodes-labelled")
    largest = Measurement(size_bytes=16 * GIB, bus_bandwidth_gb_per_second=487.09)
    return replace(whole, measurements=(*whole.measurements, largest), average_gb_per_second=100.0)


def results(found: CollectiveLog, on: PlannedNodes, **options: Any) -> dict[str, Result]:
    return {stage.name: stage.result for stage in judge(found, on, **options)}


def reason(found: CollectiveLog, on: PlannedNodes, name: str, **options: Any) -> str:
    (stage,) = (each for each in judge(found, on, **options) if each.name == name)
    return stage.reason


def test_a_good_run_passes_every_stage_that_its_log_shows() -> None:
    assert results(good_p5(), P5) == {
        "test": "pass",
        "values": "pass",
        "nodes": "skipped",
        "transport": "pass",
        "bandwidth": "pass",
    }
    assert not has_failed(judge(good_p5(), P5))
    assert reason(good_p5(), P5, "bandwidth") == "487.09 GB/s at 16 GiB, at least 300 GB/s"


def test_a_log_that_is_cut_off_fails() -> None:
    stages = judge(log("p5-two-nodes-labelled"), P5)
    assert has_failed(stages)
    assert reason(log("p5-two-nodes-labelled"), P5, "test") == "the test did not end"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("g7e-cuda-failure", "has no measurements; NCCL WARN Cuda failure 'named symbol not found"),
        ("out-of-memory", "has no measurements; NCCL WARN Cuda failure 'out of memory'"),
    ],
)
def test_a_failed_test_has_its_messages(name: str, says: str) -> None:
    assert says in reason(log(name), P5, "test")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("g6e-socket-fallback", "NCCL uses Socket instead of EFA"),
        ("p3-tcp-provider", "the provider is tcp;ofi_rxm instead of efa"),
        ("g7e-cuda-failure", "a node uses 1 EFA interfaces instead of 32"),
        ("out-of-memory", "run the test with NCCL_DEBUG=INFO"),
    ],
)
def test_another_transport_than_efa_fails(name: str, says: str) -> None:
    assert results(log(name), P5)["transport"] == "fail"
    assert says in reason(log(name), P5, "transport")


@pytest.mark.parametrize(
    ("on", "says"),
    [
        (nodes("p5.48xlarge", 1), "one node communicates over NVLink"),
        (nodes("p5.48xlarge", 2, efa_interfaces=0), "the nodes have no EFA in the plan"),
        (nodes("trn1.32xlarge", 2), "nccom-test does not log its transport"),
    ],
)
def test_the_transport_is_skipped_where_nothing_can_be_said(on: PlannedNodes, says: str) -> None:
    assert results(log("trn1-two-nodes"), on)["transport"] == "skipped"
    assert says in reason(log("trn1-two-nodes"), on, "transport")


def test_missing_nodes_and_ranks_fail() -> None:
    two = nodes("g7e.8xlarge", 2)
    assert results(log("g7e-cuda-failure"), two)["nodes"] == "pass"
    assert results(log("g7e-cuda-failure"), nodes("g7e.8xlarge", 4))["nodes"] == "fail"
    assert "2 ranks on 2 nodes, but the plan has 4 GPUs on 4 nodes" in reason(
        log("g7e-cuda-failure"), nodes("g7e.8xlarge", 4), "nodes"
    )


def test_wrong_values_fail() -> None:
    row = "1048576 262144 float sum -1 123.2 8.51 15.95 3 121.3 8.64 16.21 4\n"
    assert results(read_log(row), P5)["values"] == "fail"
    assert "7 wrong values" in reason(read_log(row), P5, "values")


def test_a_slow_network_fails_the_published_threshold() -> None:
    slow = log("slow-network-concluded")
    assert reason(slow, P5, "bandwidth") == "49.83 GB/s at 8 GiB, less than 250 GB/s"
    assert results(slow, P5)["bandwidth"] == "fail"
    neuron = nodes("trn1.32xlarge", 2)
    assert results(log("trn1-two-nodes"), neuron)["bandwidth"] == "pass"


@pytest.mark.parametrize("on", [nodes("p4de.24xlarge", 4), nodes("p5.48xlarge", 1)])
def test_without_a_published_threshold_the_bandwidth_is_only_reported(on: PlannedNodes) -> None:
    slow = log("slow-network-concluded")
    assert results(slow, on)["bandwidth"] == "skipped"
    assert "49.83 GB/s at 8 GiB; no threshold is published" in reason(slow, on, "bandwidth")


def test_the_threshold_of_the_user_decides() -> None:
    slow = log("slow-network-concluded")
    assert results(slow, P5, minimum_gb_per_second=40)["bandwidth"] == "pass"
    assert results(good_p5(), P5, minimum_gb_per_second=500)["bandwidth"] == "fail"


@pytest.mark.parametrize(
    ("name", "count", "size", "expected"),
    [
        ("p5.48xlarge", 2, GIB, 250),
        ("p5.48xlarge", 2, 16 * GIB, 300),
        ("p5.48xlarge", 16, 16 * GIB, 300),
        ("p5.48xlarge", 16, GIB, None),
        ("p5.48xlarge", 1, 16 * GIB, 368),
        ("p5.48xlarge", 1, 8 * GIB, None),
        ("p4d.24xlarge", 1, 8 * GIB, 182.4),
        ("p6-b200.48xlarge", 1, 16 * GIB, None),
        ("p4d.24xlarge", 2, GIB, 26),
        ("p4de.24xlarge", 2, 2 * GIB, 62.4),
        ("p4d.24xlarge", 2, GIB // 2, None),
        ("g4dn.8xlarge", 2, GIB, None),
    ],
)
def test_thresholds_hold_for_the_nodes_and_sizes_of_their_source(
    name: str, count: int, size: int, expected: float | None
) -> None:
    floor = bandwidth_floor(name, nodes=count, message_bytes=size)
    assert (floor.gb_per_second if floor else None) == expected


def test_the_document_lists_every_threshold() -> None:
    text = (ROOT / "docs" / "verify.md").read_text(encoding="utf-8")
    rows = {
        f"| {name} | {floor.nodes or '2 or more'} | {size_text(floor.message_bytes)} "
        f"| {floor.gb_per_second:g} |"
        for name, floors in FLOORS.items()
        for floor in floors
    }
    assert {row for row in rows if row not in text} == set()


def test_one_node_with_fewer_interfaces_fails_the_transport() -> None:
    mixed = replace(good_p5(), providers=frozenset({Provider("efa", 32), Provider("efa", 31)}))
    assert reason(mixed, P5, "transport") == "a node uses 31 EFA interfaces instead of 32"


@pytest.mark.parametrize(
    ("size", "text"), [(8, "8 B"), (2048, "2 KiB"), (3 * 2**19, "1.5 MiB"), (2**34, "16 GiB")]
)
def test_sizes_have_units(size: int, text: str) -> None:
    assert size_text(size) == text

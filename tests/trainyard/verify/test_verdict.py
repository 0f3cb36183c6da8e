"""What `verify` says about logs, by stage."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.collective_logs import (
    alone_lines,
    efa_lines,
    measured_lines,
    rank_lines,
    whole_log,
)
from tests.support.tracked import ROOT
from tests.trainyard.verify.test_collective_log import log
from trainyard.components.catalog.collective_tests import FLOORS, GIB, bandwidth_floor
from trainyard.components.catalog.instance_types import instance_type
from trainyard.verify.collective_log import CollectiveLog, read_log, size_text
from trainyard.verify.inventory import no_inventory
from trainyard.verify.planned_nodes import PlannedTest
from trainyard.verify.stages import PlannedNodes, Result, has_failed, judge
from trainyard.verify.verification import verified


def nodes(type_name: str, count: int, **changes: Any) -> PlannedNodes:
    found = instance_type(type_name)
    assert found.accelerators is not None
    values = {"efa_interfaces": found.efa_interfaces, **changes}
    return PlannedNodes(
        instance_type=type_name, accelerators=found.accelerators, count=count, **values
    )


P5 = nodes("p5.48xlarge", 2)


HOSTS = ("a", "b")


def good_p5(gb_per_second: float = 487.09) -> str:
    """Return the log of a good run: that of each node alone, and that of all nodes."""
    return whole_log(HOSTS, 8, 32, gb_per_second)


GOOD = read_log(good_p5())


def results(found: CollectiveLog, on: PlannedNodes, **options: Any) -> dict[str, Result]:
    return {stage.name: stage.result for stage in judge(found, on, **options)}


def reason(found: CollectiveLog, on: PlannedNodes, name: str, **options: Any) -> str:
    (stage,) = (each for each in judge(found, on, **options) if each.name == name)
    return stage.reason


def test_a_good_run_passes_every_stage_that_its_log_shows() -> None:
    assert results(GOOD, P5) == {
        "test": "pass",
        "values": "pass",
        "nodes": "pass",
        "transport": "pass",
        "bandwidth": "pass",
    }
    assert not has_failed(judge(GOOD, P5))
    assert reason(GOOD, P5, "bandwidth") == "487.09 GB/s at 16 GiB, at least 300 GB/s"
    said = "NCCL uses Libfabric over 32 EFA interfaces on each node"
    assert reason(GOOD, P5, "transport") == said


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
        (
            "g6e-socket-fallback",
            "the EFA plugin failed in at least one process: NET/OFI No eligible",
        ),
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
    assert results(GOOD, P5, minimum_gb_per_second=500)["bandwidth"] == "fail"


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
    mixed = good_p5().replace("(found 32 nics)", "(found 31 nics)", 1)
    said = "a node uses 31 EFA interfaces instead of 32"
    assert reason(read_log(mixed), P5, "transport") == said


FAILED_AFTER_SELECTION = (
    "a:100:100 [0] NCCL INFO NET/OFI Selected provider is efa, fabric is efa (found 32 nics)\n"
    "a:100:100 [0] nccl_net_ofi_create_plugin:418 NCCL WARN NET/OFI aws-ofi-nccl initialization "
    "failed\n"
)
"""The plugin logs the provider before it creates endpoints, which can fail: lines 644 and 418 of
https://github.com/aws/aws-ofi-nccl/blob/2daf7d303aa139a03140aa530957d10521e4478d/src/nccl_ofi_net.cpp"""
NO_PLUGIN = "a:100:100 [0] NCCL INFO Failed to initialize NET plugin Libfabric\n"
"""https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/plugin/net.cc, `ncclNetPluginInit`"""


@pytest.mark.parametrize(
    ("log_text", "says"),
    [
        (FAILED_AFTER_SELECTION, "in at least one process: NET/OFI aws-ofi-nccl initialization fa"),
        (good_p5() + FAILED_AFTER_SELECTION, "the EFA plugin failed in at least one process"),
        (good_p5() + NO_PLUGIN, "Failed to initialize NET plugin Libfabric"),
        (
            "a:1:1 [0] NCCL WARN Error: network AWS Libfabric not found.",
            "network AWS Libfabric not",
        ),
        (
            "a:100:100 [0] NCCL INFO Using network Libfabric\n",
            "1 of 16 processes say that they use",
        ),
        (
            good_p5().replace("fabric is efa (found 32 nics)", "fabric is efa"),
            "0 of 16 processes say which provider they use, and over how many interfaces",
        ),
        (good_p5() + "a:1:1 [0] NCCL INFO Channel 00/0 : 1[1] -> 8[0] via NET/Socket/0", "Socket"),
        (
            good_p5().replace("network AWS Libfabric", "network IB", 1),
            "NCCL uses IB instead of EFA",
        ),
    ],
)
def test_the_transport_needs_evidence_of_every_process(log_text: str, says: str) -> None:
    found = read_log(log_text)
    assert results(found, P5)["transport"] == "fail"
    assert says in reason(found, P5, "transport")


def test_a_number_of_interfaces_is_only_said_if_it_was_measured() -> None:
    for name in ("Libfabric", "AWS Libfabric"):
        found = read_log(f"a:100:100 [0] NCCL INFO Using network {name}\n")
        assert "32" not in reason(found, P5, "transport")


def test_ranks_and_the_right_transport_without_a_row_fail() -> None:
    ended = rank_lines(HOSTS, 8) + efa_lines(32, HOSTS, 8) + "# Avg bus bandwidth    : 100.1\n"
    stages = {stage.name: stage for stage in judge(read_log(ended), P5)}
    assert (stages["nodes"].result, stages["transport"].result) == ("pass", "pass")
    assert stages["test"].result == "fail"
    assert stages["test"].reason == "the test ended, but no row of its results can be read"


def test_the_row_of_the_largest_message_is_needed() -> None:
    small = rank_lines(HOSTS, 8) + efa_lines(32, HOSTS, 8) + measured_lines(400, size_bytes=1 << 33)
    said = "the results end at 8 GiB, and those up to 16 GiB are missing"
    assert reason(read_log(small), P5, "test") == said
    announced = (
        "# nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592 step: 2(factor) warmup iters: 1\n"
    )
    assert results(read_log(announced + small), P5)["test"] == "pass"


def test_results_that_nobody_compared_fail() -> None:
    unchecked = good_p5().replace("# Out of bounds values : 0 OK\n", "")
    assert results(read_log(unchecked), P5)["values"] == "fail"


def test_several_tests_of_one_node_each_are_not_a_test_of_all() -> None:
    """Without MPI, each process is rank 0 of its own test."""
    both = [rank_lines([host], 1) for host in HOSTS]
    one_gpu = nodes("g5.8xlarge", 2)
    assert results(read_log(rank_lines(HOSTS, 1)), one_gpu)["nodes"] == "pass"
    assert results(read_log("".join(both)), one_gpu)["nodes"] == "fail"


@pytest.mark.parametrize(
    ("size", "text"), [(8, "8 B"), (2048, "2 KiB"), (3 * 2**19, "1.5 MiB"), (2**34, "16 GiB")]
)
def test_sizes_have_units(size: int, text: str) -> None:
    assert size_text(size) == text


def _passes(text: str) -> bool:
    """Return whether a job's log passes every stage."""
    planned = PlannedTest(test="nccl-tests", nodes=P5, chosen=None)
    found = verified("p5-cb", planned, text, inventory=no_inventory("none"), describes_nodes=True)
    return found.passed


FAULTS: dict[str, Callable[[str], str]] = {
    "slow": lambda _: good_p5(200.0),
    "wrong values": lambda text: re.sub(
        r"^(1717.*) 0\n# Out of bounds values : 0 OK",
        r"\1 4\n# Out of bounds values : 4 FAILED",
        text,
        flags=re.MULTILINE,
    ),
    "one process on sockets": lambda text: text.replace(
        "b:115:115 [7] NCCL INFO Using network AWS Libfabric",
        "b:115:115 [7] NCCL INFO Using network Socket",
    ),
    "one process with another provider": lambda text: text.replace(
        "provider is efa, fabric is efa (found 32 nics)", "provider is tcp;ofi_rxm", 1
    ),
    "one process with fewer interfaces": lambda text: text.replace("(found 32", "(found 31", 1),
    "the plugin fails in a process": lambda text: text.replace(
        "b:115:115 [7] NCCL INFO Using network AWS Libfabric",
        "b:115:115 [7] NCCL WARN NET/OFI aws-ofi-nccl initialization failed",
    ),
    "a missing rank": lambda text: re.sub(r"#  Rank 15 .*\n", "", text),
    "a slow node": lambda text: text.replace(alone_lines("b", 480.0), alone_lines("b", 210.0)),
    "another kernel": lambda text: text.replace(
        "[version b] kernel: 6.12", "[version b] kernel: 6.1"
    ),
    "no end": lambda text: text.replace("# Avg bus bandwidth    : 487.09 \n", ""),
    "no row": lambda text: re.sub(r"^17179869184 .*\n", "", text, flags=re.MULTILINE),
}


def test_the_log_without_a_fault_passes() -> None:
    assert _passes(good_p5())


@pytest.mark.parametrize("fault", FAULTS)
def test_a_log_with_a_fault_fails(fault: str) -> None:
    assert not _passes(FAULTS[fault](good_p5()))


def test_a_process_without_its_rank_that_says_half_of_its_provider_fails() -> None:
    text = re.sub(r"#  Rank 15 .*\n", "", good_p5())
    half = re.sub(
        r"^(b:115:115 .* fabric is efa) \(found 32 nics\)$", r"\1", text, flags=re.MULTILINE
    )
    assert half != text
    assert not _passes(half)


@pytest.mark.parametrize("fault", FAULTS)
@given(data=st.data())
def test_no_log_passes_because_lines_were_removed_cut_or_interleaved(
    fault: str, data: st.DataObject
) -> None:
    lines = FAULTS[fault](good_p5()).splitlines()
    some = st.sets(st.integers(0, len(lines) - 1), max_size=6)
    removed, cut, fused = data.draw(some), data.draw(some), data.draw(some)
    found = ""
    for at, line in enumerate(lines):
        if at in removed:
            continue
        keep = data.draw(st.integers(0, len(line))) if at in cut else len(line)
        found += line[:keep] + ("" if at in fused else "\n")
    moved = data.draw(st.integers(0, len(lines)))
    parts = found.splitlines(keepends=True)
    assert not _passes("".join(parts[moved:] + parts[:moved]))


@pytest.mark.parametrize("fault", FAULTS)
def test_no_log_passes_without_all_lines_of_a_kind(fault: str) -> None:
    text = FAULTS[fault](good_p5())
    for kind in (
        "[version",
        "[alone",
        "#  Rank",
        "Selected",
        "Using",
        "Out of",
        "17179869184",
        "b:",
    ):
        kept = [line for line in text.splitlines(keepends=True) if kind not in line]
        assert not _passes("".join(kept)), kind

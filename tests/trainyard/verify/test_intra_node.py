"""Which node is slow by itself."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.support.collective_logs import alone_lines
from tests.trainyard.verify.test_verdict import nodes
from trainyard.verify.collective_log import read_log
from trainyard.verify.stages import PlannedNodes, judge_intra_node, read_parts

P5 = nodes("p5.48xlarge", 2)
B200 = nodes("p6-b200.48xlarge", 2)
"""A type without a published threshold."""


def log_of(speeds: Mapping[str, float]) -> str:
    return "".join(alone_lines(node, speed) for node, speed in speeds.items())


@pytest.mark.parametrize(
    ("on", "speeds", "says"),
    [
        (
            P5,
            {"a": 478, "b": 470},
            "each of 2 nodes has at least 470 GB/s; wanted is at least 368 GB/s",
        ),
        (
            P5,
            {"a": 478, "b": 210},
            "b 210 GB/s at 16 GiB; the others have at least 478 GB/s; wanted is at least 368 GB/s",
        ),
        (P5, {"a": 90, "b": 95}, "a 90 GB/s at 16 GiB; b 95 GB/s at 16 GiB; wanted is at least"),
        (
            B200,
            {"a": 800, "b": 500},
            "b 500 GB/s at 16 GiB; the others have at least 800 GB/s; wanted is 80 % of the best",
        ),
        (B200, {"a": 800, "b": 790}, "each of 2 nodes has at least 790 GB/s; wanted is 80 % of"),
    ],
)
def test_the_slow_node_is_named(on: PlannedNodes, speeds: Mapping[str, float], says: str) -> None:
    stage = judge_intra_node(read_parts(log_of(speeds), "alone", on), on)
    assert stage.reason.startswith(says)
    assert stage.result == ("pass" if says.startswith("each") else "fail")


def test_a_node_that_fails_is_named() -> None:
    text = log_of({"a": 478}) + "[alone b] b:1:1 [0] NCCL WARN Cuda failure 'unspecified'\n"
    names = "[node b] ip-10-0-0-2\n"
    stage = judge_intra_node(read_parts(names + text, "alone", P5), P5)
    assert stage.reason.startswith("ip-10-0-0-2 failed (NCCL WARN Cuda failure 'unspecified')")


@pytest.mark.parametrize(
    ("on", "says"),
    [
        (nodes("p5.48xlarge", 1), "the test of one node is this test"),
        (nodes("trn1.32xlarge", 2), "nccom-tests has no test of each node alone"),
        (nodes("g5.8xlarge", 2), "the nodes have one GPU each"),
    ],
)
def test_it_is_skipped_where_no_such_test_runs(on: PlannedNodes, says: str) -> None:
    stage = judge_intra_node((), on)
    assert stage.result == "skipped"
    assert stage.reason.startswith(says)


def test_a_node_that_was_not_tested_fails() -> None:
    assert judge_intra_node((), P5).result == "fail"
    assert judge_intra_node((), P5, is_required=False).result == "skipped"
    one = judge_intra_node(read_parts(log_of({"a": 478}), "alone", P5), P5)
    assert (one.result, one.nodes) == ("fail", ())
    assert one.reason == "1 of 2 nodes were tested alone"


def test_the_test_of_all_nodes_is_not_mixed_with_that_of_one() -> None:
    found = read_log(log_of({"a": 478}) + "# Avg bus bandwidth    : 100.1\n")
    assert found.measurements == ()
    assert found.average_gb_per_second == 100.1

"""Which node a log of pairs blames."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.collective_logs import pair_lines
from tests.trainyard.verify.test_verdict import nodes
from trainyard.verify.stages import PlannedNodes, Stage, bad_nodes, judge_pairs, read_pairs

P5 = nodes("p5.48xlarge", 4)
TWO = nodes("p5.48xlarge", 2)
G5 = nodes("g5.8xlarge", 4)
"""A type without a published threshold."""


def log_of(pairs: Mapping[str, float | str]) -> str:
    lines = (
        f"[pair {pair}] {found}\n" if isinstance(found, str) else pair_lines(pair, found)
        for pair, found in pairs.items()
    )
    return "".join(lines)


def judged(pairs: Mapping[str, float | str], on: PlannedNodes = P5, **options: float) -> Stage:
    return judge_pairs(read_pairs(log_of(pairs), on), on, **options)


RING = {"a b": 480.0, "b c": 470.0, "c d": 475.0, "d a": 490.0}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({}, "4 pairs of nodes have at least 470 GB/s"),
        (
            {"b c": 210.0, "c d": 190.0},
            "the cause is c: b and c 210 GB/s at 16 GiB; c and d 190 GB/s at 16 GiB; the other",
        ),
        (
            {"b c": "x NCCL WARN Cuda failure 'unspecified'", "c d": "the test ended with 124"},
            "the cause is c: b and c failed (NCCL WARN Cuda failure 'unspecified'); c and d failed",
        ),
        (
            {"b c": 350.0},
            "one of the two nodes of a pair, or the link between them: b and c 350 GB/s at 16 GiB",
        ),
        (dict.fromkeys(RING, 20.0), "no pair of nodes passes: a and b 20 GB/s at 16 GiB; b and c"),
    ],
)
def test_the_node_of_two_bad_pairs_is_the_cause(changes: dict[str, float | str], says: str) -> None:
    stage = judged({**RING, **changes})
    assert stage.reason.startswith(says)
    assert stage.result == ("fail" if changes else "pass")


def test_the_other_pairs_are_the_comparison() -> None:
    said = judged({**RING, "b c": 210.0, "c d": "the test ended with 124"}).reason
    assert said.endswith("c and d failed (no end); the other pairs have at least 480 GB/s")


def test_pairs_are_compared_with_the_best_where_nothing_is_published() -> None:
    assert judged(RING, G5).result == "pass"
    assert judged({**RING, "a b": 380.0}, G5).result == "fail"


def test_the_threshold_of_the_user_decides() -> None:
    assert judged(RING, minimum_gb_per_second=475).reason.startswith("one of the two nodes")


def test_two_nodes_are_one_pair() -> None:
    assert judged({"a b": 20.0}, TWO).reason == "no pair of nodes passes: a and b 20 GB/s at 16 GiB"


def test_wrong_values_are_a_failure() -> None:
    row = "17179869184 4294967296 float sum -1 66132 259.78 487.09 3 66109 259.87 487.26 0"
    wrong = f"[pair a b] {row}\n[pair a b] # Avg bus bandwidth : 100\n"
    stage = judge_pairs(read_pairs(wrong, TWO), TWO)
    assert stage.reason == "no pair of nodes passes: a and b 3 wrong values"


def test_nodes_have_their_names_in_the_scheduler() -> None:
    text = "[node a.x] ip-10-0-0-1\n[node b.x] ip-10-0-0-2\n" + log_of({"a.x b.x": 480.0})
    (pair,) = read_pairs(text, P5)
    assert pair.nodes == ("ip-10-0-0-1", "ip-10-0-0-2")


def test_another_log_has_no_pairs() -> None:
    assert read_pairs("x NCCL INFO Using network Libfabric\n", P5) == ()


def test_a_pair_that_the_log_lacks_is_no_success() -> None:
    some = {pair: speed for pair, speed in RING.items() if pair != "b c"}
    assert (judged(some).result, judged(some).nodes) == ("fail", ())
    assert judged(some).reason == "the log has 3 of 4 pairs"


def test_a_pair_without_the_row_of_its_largest_message_fails() -> None:
    text = log_of(RING).replace("[pair b c] 17179869184", "[pair b c] 1717986918")
    stage = judge_pairs(read_pairs(text, P5), P5)
    assert "b and c failed (the test ended, but no row of its results can be read)" in stage.reason


@given(st.integers(3, 12), st.data())
def test_one_bad_node_of_a_ring_is_found(count: int, data: st.DataObject) -> None:
    bad = data.draw(st.integers(0, count - 1))
    speeds = st.floats(400, 480).map(lambda value: round(value, 2))
    pairs: dict[str, float | str] = {}
    for index in range(count):
        other = (index + 1) % count
        slow = bad in (index, other)
        speed = data.draw(st.floats(10, 290)) if slow else data.draw(speeds)
        pairs[f"n{index} n{other}"] = round(speed, 2)
    on = nodes("p5.48xlarge", count)
    found = read_pairs(log_of(pairs), on)
    judged_bad = [each for each in found if (each.gb_per_second or 0) < 300]
    assert bad_nodes(judged_bad, found) == [f"n{bad}"]
    assert f"the cause is n{bad}: " in judge_pairs(found, on).reason

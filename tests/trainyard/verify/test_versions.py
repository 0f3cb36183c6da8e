"""Which versions differ between nodes."""

from __future__ import annotations

import pytest

from tests.trainyard.verify.test_collective_log import log
from trainyard.verify.collective_log import read_log
from trainyard.verify.stages import Versions, judge_versions, read_versions

LOG = """\
[node nccl-tests-p5-0.nccl-tests-p5] ip-10-0-1-14.us-west-2.compute.internal
[version n-1] kernel: 6.12.46-66.121.amzn2023.x86_64
[version n-1] NVIDIA driver: 580.95.05
[version n-1] EFA driver: 2.17.3g
[version n-2] kernel: 6.12.46-66.121.amzn2023.x86_64
[version n-2] NVIDIA driver: 580.95.05
[version n-2] EFA driver: 2.17.3g
"""
EMPTY = read_log("")


def reason(*sources: Versions) -> str:
    return judge_versions(sources, EMPTY).reason


def test_versions_that_agree_pass() -> None:
    stage = judge_versions([{}, read_versions(LOG)], EMPTY)
    assert stage.result == "pass"
    assert stage.reason == "equal on all 2 nodes: kernel, NVIDIA driver, EFA driver"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "[version n-2] EFA driver: 2.17.3g",
            "[version n-2] EFA driver: 3.0.0g",
            "EFA driver differs: 2.17.3g on n-1, 3.0.0g on n-2",
        ),
        (
            "[version n-2] EFA driver: 2.17.3g\n",
            "",
            "EFA driver differs: 2.17.3g on n-1, none on n-2",
        ),
    ],
)
def test_a_node_with_another_version_is_named(old: str, new: str, says: str) -> None:
    stage = judge_versions([read_versions(LOG.replace(old, new))], EMPTY)
    assert (stage.result, stage.reason) == ("fail", says)


def test_the_version_of_most_nodes_comes_first() -> None:
    of = {"kubelet": {"a": "1", "b": "2", "c": "2", "d": "2", "e": "2"}}
    assert reason(of) == "kubelet differs: 2 on 4 nodes, 1 on a"


def test_a_source_with_more_nodes_makes_no_difference() -> None:
    """A test on two of four nodes: the scheduler knows all of them."""
    scheduler = {"kubelet": dict.fromkeys(("n-1", "n-2", "n-3", "n-4"), "v1.36.4")}
    assert judge_versions([scheduler, read_versions(LOG)], EMPTY).result == "pass"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (LOG, "the log does not say the locked memory limit of the nodes"),
        (LOG.replace("[version n-2]", "[other n-2]"), "1 of 2 nodes have printed their versions"),
        ("", "0 of 2 nodes have printed their versions"),
    ],
)
def test_nodes_that_do_not_print_their_versions_fail(text: str, says: str) -> None:
    stage = judge_versions([{}, read_versions(text)], EMPTY, nodes_with_versions=2)
    assert (stage.result, stage.reason) == ("fail", says)


def test_ranks_with_different_plugins_fail() -> None:
    two = read_log(
        "a:1:1 [0] NCCL INFO NET/OFI Initializing aws-ofi-nccl 1.16.3\n"
        "b:1:1 [0] NCCL INFO NET/OFI Initializing aws-ofi-nccl 1.17.0\n"
    )
    stage = judge_versions([], two)
    assert stage.reason == "aws-ofi-nccl differs between ranks: 1.16.3, 1.17.0"
    assert judge_versions([], log("g7e-cuda-failure")).result == "skipped"

"""`verify`: the judgement of a log, and of a test that it runs."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.support.collective_logs import efa_lines, measured_lines, rank_lines
from tests.support.recorded_stack import RecordedStack
from tests.trainyard.cli.conftest import COMPLETE
from trainyard.cli import failures
from trainyard.verify.stages import Stage

LOGS = Path("tests/trainyard/verify/logs")
HOSTS = ("a", "b")
GOOD = rank_lines(HOSTS, 8) + efa_lines(32, HOSTS, 8) + measured_lines(487.09)


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.log"
    path.write_text(GOOD, encoding="utf-8")
    return path


def test_a_good_log_passes(trainyard, good: Path, tmp_path: Path) -> None:
    junit = tmp_path / "verify.xml"
    page = tmp_path / "verify.html"
    files = ("--junit", junit, "--html", page)
    result = trainyard("verify", "p5-cb", "--log", good, "--sandbox", *files)
    assert result.exit_code == 0, result.stderr
    assert "Verification of p5-cb: passed" in page.read_text(encoding="utf-8")
    assert "p5-cb: nccl-tests on 2 nodes of p5.48xlarge" in result.stdout
    assert "pass     bandwidth  487.09 GB/s at 16 GiB, at least 300 GB/s" in result.stdout
    suite = ET.fromstring(junit.read_text(encoding="utf-8"))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("7", "0", "2")


def test_a_log_that_fails_is_the_exit_code(trainyard) -> None:
    log = LOGS / "g6e-socket-fallback.log"
    result = trainyard("verify", "p5-cb", "--log", log, "--sandbox", "--json")
    assert result.exit_code == failures.WORK_FAILED
    answer = json.loads(result.stdout)
    assert answer["passed"] is False
    failed = {each["name"] for each in answer["stages"] if each["result"] == "fail"}
    assert failed == {"test", "nodes", "transport"}


def test_the_threshold_of_the_user_fails_a_slower_network(trainyard, good: Path) -> None:
    more = ("--minimum-bandwidth", "600")
    result = trainyard("verify", "p5-cb", "--log", good, "--sandbox", *more)
    assert result.exit_code == failures.WORK_FAILED
    assert "487.09 GB/s at 16 GiB, less than 600 GB/s" in result.stdout


def test_a_threshold_in_gbit_is_refused_before_a_test(trainyard, good: Path) -> None:
    more = ("--log", good, "--sandbox", "--minimum-bandwidth", "3200")
    result = trainyard("verify", "p5-cb", *more)
    assert result.exit_code == failures.WRONG_USE
    assert "carries 3200 Gbit/s, which are 400 GB/s" in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("stack", "test", "type_name"),
    [
        ("pc-p4de-ami", "nccl-tests", "p4de.24xlarge"),
        ("pc-trn1", "nccom-tests", "trn1.32xlarge"),
        ("batch-p5", "nccl-tests", "p5.48xlarge"),
        ("batch-dev", "nccl-tests", "g4dn.8xlarge"),
        ("batch-trn1", "nccom-tests", "trn1.32xlarge"),
        ("eks-trn1", "nccom-tests", "trn1.32xlarge"),
    ],
)
def test_the_test_and_the_nodes_follow_from_the_plan(
    trainyard, good: Path, stack: str, test: str, type_name: str
) -> None:
    result = trainyard("verify", stack, "--log", good, "--sandbox", "--json")
    answer = json.loads(result.stdout)
    assert (answer["test"], answer["instance_type"]) == (test, type_name)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["vpc-one-az"], "is a network, and has no nodes"),
        (["pc-gpu", "--sandbox"], "judge a log that exists with --log FILE"),
        (["p5-cb", "--log", "no.log", "--sandbox"], "no.log does not exist"),
        (["p5-cb", "--inventory", "--log", __file__], "judges no test: omit --log"),
        (["p5-cb", "--inventory", "--pairs", "--dcgm", "1"], "omit --pairs and --dcgm"),
        (["p5-cb", "--log", __file__, "--dcgm", "1"], "--dcgm runs the diagnostics: omit --log"),
        (["p5-cb", "--queue", "q"], "is not a stack of ParallelCluster"),
        (["p5-cb", "--nodes", "9", "--log", __file__, "--sandbox"], "at most 2 nodes"),
    ],
)
def test_what_cannot_be_verified_is_refused(trainyard, arguments: list[str], says: str) -> None:
    result = trainyard("verify", *arguments)
    assert result.exit_code == failures.WRONG_USE
    assert says in result.stderr


@pytest.mark.parametrize("stack", ["p5-cb", "pc-p4de-ami", "batch-p5"])
def test_the_inventory_alone_runs_no_test(trainyard, stack: str) -> None:
    result = trainyard("verify", stack, "--inventory", "--sandbox", deployed=RecordedStack())
    assert result.exit_code == 0, result.stderr
    first, second = result.stdout.splitlines()[1:]
    assert "pass     inventory  2 of 2 nodes are as planned" in first
    assert "pass     versions   equal on 1 node: kernel" in second


def test_no_test_runs_on_nodes_that_are_not_as_planned(trainyard, stack_file) -> None:
    stage = Stage(name="inventory", result="fail", reason="1 of 2 nodes are as planned")
    deployed = RecordedStack(nodes=stage)
    path = stack_file(COMPLETE)
    result = trainyard("verify", "p5-cb", "--stack-file", path, "--pairs", deployed=deployed)
    assert deployed.submitted == []
    assert result.exit_code == failures.WORK_FAILED
    assert "fail     inventory  1 of 2 nodes are as planned" in result.stdout
    assert "skipped  test       the nodes are not as planned" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [
        ((), failures.WORK_FAILED),
        (("--minimum-bandwidth", "400"), 0),
        # The log is one of two nodes.
        (("--nodes", "1"), failures.WORK_FAILED),
    ],
)
def test_the_threshold_of_the_stack_file_is_for_traffic_between_nodes(
    trainyard, stack_file, good: Path, arguments: tuple[str, ...], exit_code: int
) -> None:
    own = {"minimum_bus_bandwidth_gb_per_second": {"p5.48xlarge": 600}}
    path = stack_file({**COMPLETE, "verification": own})
    more = ("--log", good, "--stack-file", path)
    assert trainyard("verify", "p5-cb", *arguments, *more).exit_code == exit_code


def test_the_threshold_of_the_stack_file_is_not_for_one_node(
    trainyard, stack_file, tmp_path: Path
) -> None:
    path = stack_file(
        {**COMPLETE, "verification": {"minimum_bus_bandwidth_gb_per_second": {"p5.48xlarge": 600}}}
    )
    log = tmp_path / "one.log"
    log.write_text(rank_lines("a", 8) + measured_lines(487.09), encoding="utf-8")
    result = trainyard("verify", "p5-cb", "--nodes", "1", "--log", log, "--stack-file", path)
    assert result.exit_code == 0, result.stdout


@pytest.mark.parametrize("arguments", [("p5-cb",), ("pc-p4de-ami", "--log", __file__)])
def test_only_a_test_on_a_slurm_cluster_drains(trainyard, arguments: tuple[str, ...]) -> None:
    result = trainyard("verify", *arguments, "--drain")
    assert result.exit_code == failures.WRONG_USE
    assert "--drain needs a test that `verify` runs on a Slurm cluster" in result.stderr

"""`verify`: the judgement of a log, and of a test that it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.support.parallelcluster_configs import raw_p4de
from tests.tools.cli.conftest import COMPLETE
from tools.cli import console, failures

LOGS = Path("tests/tools/verify/logs")
EFA = "x:1:1 [0] NCCL INFO NET/OFI Selected provider is efa, fabric is efa (found 32 nics)\n"
ROW = "17179869184 4294967296 float sum -1 66132 259.78 487.09 0 66109 259.87 487.26 0\n"
GOOD = f"{EFA}{ROW}# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 100.1\n"


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.log"
    path.write_text(GOOD, encoding="utf-8")
    return path


def test_a_good_log_passes(trainyard, good: Path, tmp_path: Path) -> None:
    junit = tmp_path / "verify.xml"
    result = trainyard("verify", "p5-cb", "--log", good, "--sandbox", "--junit", junit)
    assert result.exit_code == 0, result.stderr
    assert "p5-cb: nccl-tests on 2 nodes of p5.48xlarge" in result.stdout
    assert "pass     bandwidth  487.09 GB/s at 16 GiB, at least 300 GB/s" in result.stdout
    suite = ET.fromstring(junit.read_text(encoding="utf-8"))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("5", "0", "1")


def test_a_log_that_fails_is_the_exit_code(trainyard) -> None:
    log = LOGS / "g6e-socket-fallback.log"
    result = trainyard("verify", "p5-cb", "--log", log, "--sandbox", "--json")
    assert result.exit_code == failures.WORK_FAILED
    answer = json.loads(result.stdout)
    assert answer["passed"] is False
    failed = {each["name"] for each in answer["stages"] if each["result"] == "fail"}
    assert failed == {"test", "transport"}


def test_the_threshold_of_the_user_fails_a_slower_network(trainyard, good: Path) -> None:
    more = ("--minimum-bandwidth", "600")
    result = trainyard("verify", "p5-cb", "--log", good, "--sandbox", *more)
    assert result.exit_code == failures.WORK_FAILED
    assert "487.09 GB/s at 16 GiB, less than 600 GB/s" in result.stdout


@pytest.mark.parametrize(
    ("stack", "test", "type_name"),
    [
        ("pc-p4de-ami", "nccl-tests", "p4de.24xlarge"),
        ("pc-trn1", "nccom-tests", "trn1.32xlarge"),
        ("batch-p5", "nccl-tests", "p5.48xlarge"),
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
        (["p5-cb", "--sandbox"], "judge a log that exists with --log FILE"),
        (["p5-cb", "--log", "no.log", "--sandbox"], "no.log cannot be read: No such file"),
        (["p5-cb", "--queue", "q"], "is not a stack of ParallelCluster"),
        (["p5-cb", "--nodes", "9", "--log", "x", "--sandbox"], "at most 2 nodes"),
    ],
)
def test_what_cannot_be_verified_is_refused(trainyard, arguments: list[str], says: str) -> None:
    result = trainyard("verify", *arguments)
    assert result.exit_code == failures.WRONG_USE
    assert says in result.stderr


@pytest.mark.parametrize(
    ("cluster", "runs"),
    [
        (COMPLETE, "tools.cli.eks_submission.submit_manifest"),
        (raw_p4de(), "tools.cli.slurm_submission.submit_directory"),
    ],
)
def test_it_runs_the_job_and_judges_its_log(
    trainyard, stack_file, monkeypatch: pytest.MonkeyPatch, cluster: Any, runs: str
) -> None:
    def submit(*_: object, wait: Any, **__: object) -> None:
        console.answer("nccl-tests")
        for line in GOOD.splitlines():
            wait.show(line)

    monkeypatch.setattr(runs, submit)
    path = stack_file(cluster)
    arguments = ("--json", "--wait-minutes", "5", "--stack-file", path)
    result = trainyard("verify", "p5-cb", *arguments)
    answer = json.loads(result.stdout)
    assert answer["measurements"][-1]["bus_bandwidth_gb_per_second"] == 487.09
    assert "nccl-tests" in result.stderr


def test_the_log_of_a_failed_job_is_judged(
    trainyard, stack_file, monkeypatch: pytest.MonkeyPatch
) -> None:
    def submit(*_: object, wait: Any, **__: object) -> None:
        wait.show("x [0] NCCL WARN Cuda failure 'out of memory'")
        raise failures.CommandError("the job nccl-tests failed: exit code 1")

    monkeypatch.setattr("tools.cli.eks_submission.submit_manifest", submit)
    result = trainyard("verify", "p5-cb", "--stack-file", stack_file(COMPLETE))
    assert result.exit_code == failures.WORK_FAILED
    assert "the job nccl-tests failed: exit code 1" in result.stderr
    assert "NCCL WARN Cuda failure 'out of memory'" in result.stdout


@pytest.mark.parametrize("says", ["", "no cluster is deployed"])
def test_without_a_log_nothing_is_judged(
    trainyard, stack_file, monkeypatch: pytest.MonkeyPatch, says: str
) -> None:
    def submit(*_: object, **__: object) -> None:
        if says:
            raise failures.CommandError(says)

    monkeypatch.setattr("tools.cli.eks_submission.submit_manifest", submit)
    result = trainyard("verify", "p5-cb", "--stack-file", stack_file(COMPLETE))
    assert result.exit_code == failures.WORK_FAILED
    assert (says or "without a log that could be judged") in result.stderr
    assert not result.stdout

"""`verify`: the judgement of a log, and of a test that it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.support.parallelcluster_configs import raw_p4de, raw_trn1
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


SLOW = GOOD.replace("487.09", "87.09").replace("487.26", "87.26")
PAIRS = "".join(
    f"[pair {pair}] {line}\n"
    for pair, log in (("a b", GOOD), ("b c", SLOW), ("c a", SLOW))
    for line in log.splitlines()
)


@pytest.mark.parametrize(
    ("options", "jobs"),
    [
        ((), ["nccl-tests", "nccl-pairs"]),
        (("--no-pairs",), ["nccl-tests"]),
        (("--nodes", "2"), ["nccl-tests"]),
        (("--nodes", "2", "--pairs"), ["nccl-tests", "nccl-pairs"]),
    ],
)
def test_pairs_of_nodes_are_tested_if_more_than_two_nodes_fail(
    trainyard,
    stack_file,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    jobs: list[str],
) -> None:
    submitted: list[str] = []

    def submit(_plan: object, _job: object, name: str, *, wait: Any, **__: object) -> None:
        submitted.append(name)
        for line in (PAIRS if name == "nccl-pairs" else SLOW).splitlines():
            wait.show(line)

    monkeypatch.setattr("tools.cli.slurm_submission.submit_directory", submit)
    arguments = (*options, "--minimum-bandwidth", "300", "--stack-file", stack_file(raw_p4de()))
    result = trainyard("verify", "p5-cb", *arguments, "--json")
    assert result.exit_code == failures.WORK_FAILED, result.stderr
    assert submitted == jobs
    answer = json.loads(result.stdout)
    assert [each["gb_per_second"] for each in answer["pairs"]] == (
        [487.09, 87.09, 87.09] if len(jobs) == 2 else []
    )
    last = answer["stages"][-1]
    expected = ("pairs", "the cause is c: b and c 87.09") if len(jobs) == 2 else ("bandwidth", "87")
    assert last["name"] == expected[0]
    assert last["reason"].startswith(expected[1])


@pytest.mark.parametrize("says", ["the job nccl-pairs failed", ""])
def test_pairs_without_a_log_are_skipped(
    trainyard, stack_file, monkeypatch: pytest.MonkeyPatch, says: str
) -> None:
    def submit(manifest: str, *, wait: Any, **__: object) -> None:
        if "nccl-pairs" not in manifest:
            wait.show(SLOW)
        elif says:
            raise failures.CommandError(says)
        else:
            wait.show("waiting for c")

    monkeypatch.setattr("tools.cli.eks_submission.submit_manifest", submit)
    path = stack_file(COMPLETE)
    result = trainyard("verify", "p5-cb", "--pairs", "--stack-file", path)
    assert result.exit_code == failures.WORK_FAILED
    assert f"skipped  pairs      {says or 'the log has no pairs'}" in result.stdout


def test_a_log_of_pairs_is_judged(trainyard, tmp_path: Path) -> None:
    path = tmp_path / "pairs.log"
    path.write_text(PAIRS, encoding="utf-8")
    result = trainyard("verify", "p5-cb", "--log", path, "--sandbox")
    assert result.exit_code == failures.WORK_FAILED
    assert "fail     pairs      the cause is c: " in result.stdout
    assert "bandwidth" not in result.stdout


@pytest.mark.parametrize(
    ("cluster", "options"), [(raw_trn1(), ()), (COMPLETE, ("--nodes", "1")), (COMPLETE, ("--log",))]
)
def test_pairs_are_for_gpus_of_several_nodes(
    trainyard, stack_file, good: Path, cluster: Any, options: tuple[str, ...]
) -> None:
    values = (good,) if "--log" in options else ()
    path = stack_file(cluster)
    result = trainyard("verify", "p5-cb", *options, *values, "--pairs", "--stack-file", path)
    assert result.exit_code == failures.WRONG_USE
    assert "--pairs runs a test on at least two nodes with NVIDIA GPUs" in result.stderr


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


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [((), failures.WORK_FAILED), (("--minimum-bandwidth", "400"), 0), (("--nodes", "1"), 0)],
)
def test_the_threshold_of_the_stack_file_is_for_traffic_between_nodes(
    trainyard, stack_file, good: Path, arguments: tuple[str, ...], exit_code: int
) -> None:
    own = {"minimum_bus_bandwidth_gb_per_second": {"p5.48xlarge": 600}}
    path = stack_file({**COMPLETE, "verification": own})
    more = ("--log", good, "--stack-file", path)
    assert trainyard("verify", "p5-cb", *arguments, *more).exit_code == exit_code


@pytest.mark.parametrize("arguments", [("p5-cb",), ("pc-p4de-ami", "--log", "x")])
def test_only_a_test_on_a_slurm_cluster_drains(trainyard, arguments: tuple[str, ...]) -> None:
    result = trainyard("verify", *arguments, "--drain")
    assert result.exit_code == failures.WRONG_USE
    assert "--drain needs a test that `verify` runs on a Slurm cluster" in result.stderr

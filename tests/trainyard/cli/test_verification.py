"""`verify`: the jobs that it runs, and the judgement of their logs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.collective_logs import pair_lines, whole_log
from tests.support.parallelcluster import raw_p4de, raw_trn1
from tests.support.recorded_stack import RecordedStack, prints
from tests.trainyard.cli.conftest import COMPLETE
from trainyard.cli import console, failures

GOOD, SLOW = (whole_log("ab", 8, 32, speed) for speed in (487.09, 87.09))
"""Logs of jobs on two nodes of p5.48xlarge."""
RESULT = (
    '{"DCGM Diagnostic": {"test_categories": [{"category": "Deployment", "tests": [{"name": '
    '"software", "test_summary": {"status": "Pass"}}]}]}}'
)


@pytest.mark.parametrize("cluster", [COMPLETE, raw_p4de()])
def test_it_runs_the_job_and_judges_its_log(trainyard, stack_file, cluster: Any) -> None:
    def job(what: str, wait: Any) -> None:
        console.answer("nccl-tests")
        prints(GOOD)(what, wait)

    arguments = ("--json", "--wait-minutes", "5", "--stack-file", stack_file(cluster))
    result = trainyard("verify", "p5-cb", *arguments, deployed=RecordedStack(job))
    answer = json.loads(result.stdout)
    assert answer["stages"][0]["reason"] == "2 of 2 nodes are as planned"
    assert answer["measurements"][-1]["bus_bandwidth_gb_per_second"] == 487.09
    assert "nccl-tests" in result.stderr


def test_the_log_of_a_failed_job_is_judged(trainyard, stack_file) -> None:
    def job(_what: str, wait: Any) -> None:
        wait.show("x [0] NCCL WARN Cuda failure 'out of memory'")
        raise failures.CommandError("the job nccl-tests failed: exit code 1")

    path, deployed = stack_file(COMPLETE), RecordedStack(job)
    result = trainyard("verify", "p5-cb", "--stack-file", path, deployed=deployed)
    assert result.exit_code == failures.WORK_FAILED
    assert "the job nccl-tests failed: exit code 1" in result.stderr
    assert "NCCL WARN Cuda failure 'out of memory'" in result.stdout


def ring(nodes: str) -> str:
    """Return the log of pairs of nodes, which form a ring, where the pairs with `c` are slow."""
    pairs = zip(nodes, f"{nodes[1:]}{nodes[0]}", strict=True)
    return "".join(pair_lines(f"{a} {b}", 87.09 if "c" in (a, b) else 487.09) for a, b in pairs)


@pytest.mark.parametrize(
    ("options", "nodes", "jobs"),
    [
        ((), "abcd", ["nccl-tests", "nccl-pairs"]),
        (("--no-pairs",), "abcd", ["nccl-tests"]),
        (("--nodes", "2"), "ab", ["nccl-tests"]),
        (("--nodes", "3"), "abc", ["nccl-tests", "nccl-pairs"]),
    ],
)
def test_pairs_of_nodes_are_tested_if_more_than_two_nodes_fail(
    trainyard, stack_file, options: tuple[str, ...], nodes: str, jobs: list[str]
) -> None:
    def job(name: str, wait: Any) -> None:
        text = ring(nodes) if name == "nccl-pairs" else whole_log(nodes, 8, 4, 87.09)
        prints(text)(name, wait)

    deployed = RecordedStack(job)
    arguments = (*options, "--minimum-bandwidth", "90", "--stack-file", stack_file(raw_p4de()))
    result = trainyard("verify", "p5-cb", *arguments, "--json", deployed=deployed)
    assert result.exit_code == failures.WORK_FAILED, result.stderr
    assert deployed.submitted == jobs
    answer = json.loads(result.stdout)
    assert [each["gb_per_second"] for each in answer["pairs"]] == (
        [487.09, 87.09, 87.09, 487.09][: len(nodes)] if len(jobs) == 2 else []
    )
    last = answer["stages"][-1]
    expected = ("pairs", "the cause is c: b and c 87.09") if len(jobs) == 2 else ("bandwidth", "87")
    assert last["name"] == expected[0]
    assert last["reason"].startswith(expected[1])


def test_two_nodes_are_a_pair_if_that_is_asked_for(trainyard, stack_file) -> None:
    def job(name: str, wait: Any) -> None:
        text = pair_lines("a b", 87.09) if name == "nccl-pairs" else whole_log("ab", 8, 4, 87.09)
        prints(text)(name, wait)

    options = ("--nodes", "2", "--pairs", "--minimum-bandwidth", "90")
    path, deployed = stack_file(raw_p4de()), RecordedStack(job)
    result = trainyard("verify", "p5-cb", *options, "--stack-file", path, deployed=deployed)
    assert deployed.submitted == ["nccl-tests", "nccl-pairs"]
    assert result.exit_code == failures.WORK_FAILED
    assert "fail     pairs      no pair of nodes passes: a and b 87.09" in result.stdout


def test_pairs_of_nodes_with_neuron_devices_are_tested_too(trainyard, stack_file) -> None:
    said = "Failure running neuron-bench - log file /tmp/nccom_test_log_7pqpdfjf.log"
    path, deployed = stack_file(raw_trn1()), RecordedStack(prints(said))
    result = trainyard("verify", "p5-cb", "--json", "--stack-file", path, deployed=deployed)
    assert deployed.submitted == ["nccom-tests", "nccom-pairs"]
    stages = {each["name"]: each for each in json.loads(result.stdout)["stages"]}
    assert "Failure running neuron-bench" in stages["test"]["reason"]
    assert (stages["pairs"]["result"], stages["pairs"]["reason"]) == (
        "fail",
        "the log has no pairs",
    )


@pytest.mark.parametrize(
    ("said", "stage"),
    [
        (RESULT, "pass     dcgm       1 tests passed on each of 2 nodes"),
        ("", "fail     dcgm       the log has no diagnostics"),
    ],
)
def test_the_diagnostics_run_at_their_level(trainyard, stack_file, said: str, stage: str) -> None:
    def job(manifest: str, wait: Any) -> None:
        if "dcgm-diag" in manifest:
            for node in ("a", "b"):
                wait.show(f"[dcgm {node}] {said}" if said else "no output")
        else:
            wait.show(GOOD)

    options = ("--dcgm", "3", "--stack-file", stack_file(COMPLETE))
    deployed = RecordedStack(job)
    result = trainyard("verify", "p5-cb", *options, deployed=deployed)
    assert stage in result.stdout, result.stderr
    assert result.exit_code == (0 if said else failures.WORK_FAILED)
    assert "dcgmi diag --run 3" in deployed.submitted[-1]


def test_the_diagnostics_are_for_gpus(trainyard, stack_file) -> None:
    result = trainyard("verify", "p5-cb", "--dcgm", "1", "--stack-file", stack_file(raw_trn1()))
    assert result.exit_code == failures.WRONG_USE
    assert "--dcgm is for NVIDIA GPUs" in result.stderr


@pytest.mark.parametrize("says", ["the job nccl-pairs failed", ""])
def test_pairs_without_a_log_fail(trainyard, stack_file, says: str) -> None:
    def job(manifest: str, wait: Any) -> None:
        if "nccl-pairs" not in manifest:
            wait.show(SLOW)
        elif says:
            raise failures.CommandError(says)
        else:
            wait.show("waiting for c")

    path, deployed = stack_file(COMPLETE), RecordedStack(job)
    result = trainyard("verify", "p5-cb", "--pairs", "--stack-file", path, deployed=deployed)
    assert result.exit_code == failures.WORK_FAILED
    assert f"fail     pairs      {says or 'the log has no pairs'}" in result.stdout


def test_a_log_of_pairs_is_judged(trainyard, tmp_path: Path) -> None:
    path = tmp_path / "pairs.log"
    path.write_text(ring("abc"), encoding="utf-8")
    result = trainyard("verify", "p5-cb", "--log", path, "--sandbox")
    assert result.exit_code == failures.WORK_FAILED
    assert "fail     pairs      the cause is c: " in result.stdout
    assert "bandwidth" not in result.stdout


@pytest.mark.parametrize(
    ("cluster", "options"),
    [(raw_trn1(), ("--nodes", "1")), (COMPLETE, ("--nodes", "1")), (COMPLETE, ("--log",))],
)
def test_pairs_are_for_several_nodes(
    trainyard, stack_file, tmp_path: Path, cluster: Any, options: tuple[str, ...]
) -> None:
    log = tmp_path / "empty.log"
    log.touch()
    values = (log,) if "--log" in options else ()
    path = stack_file(cluster)
    result = trainyard("verify", "p5-cb", *options, *values, "--pairs", "--stack-file", path)
    assert result.exit_code == failures.WRONG_USE
    assert "--pairs runs a test on at least two nodes" in result.stderr


@pytest.mark.parametrize("says", ["", "no cluster is deployed"])
def test_without_a_log_nothing_is_judged(trainyard, stack_file, says: str) -> None:
    def job(_what: str, _wait: Any) -> None:
        if says:
            raise failures.CommandError(says)

    path, deployed = stack_file(COMPLETE), RecordedStack(job)
    result = trainyard("verify", "p5-cb", "--stack-file", path, deployed=deployed)
    assert result.exit_code == failures.WORK_FAILED
    assert (says or "without a log that could be judged") in result.stderr
    assert not result.stdout

"""What `verify` does with the nodes that it has tested."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.collective_logs import whole_log
from tests.support.eks import p5
from tests.support.parallelcluster import raw_p4de
from tests.support.recorded_stack import RecordedStack, prints
from tests.trainyard.cli.conftest import COMPLETE
from tests.trainyard.cli.test_verification import GOOD, SLOW, ring
from tests.trainyard.verify.test_verdict import nodes
from trainyard.cli import failures
from trainyard.schedulers.registry import scheduler_of
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.verify.planned_nodes import PlannedTest
from trainyard.verify.stages import Stage
from trainyard.verify.verified import Verified
from trainyard.workspace.accounts import target_of


@pytest.mark.parametrize(("log", "passed"), [(GOOD, True), (SLOW, False)])
@pytest.mark.parametrize("required", [True, False])
def test_the_nodes_of_an_eks_cluster_are_labelled_with_the_result(
    trainyard, stack_file, log, passed, required
) -> None:
    deployed = RecordedStack(prints(log, "a", "b"))
    path = stack_file({**COMPLETE, "verification": {"required": required}})
    result = trainyard("verify", "p5-cb", "--stack-file", path, deployed=deployed)
    assert result.exit_code == (0 if passed else failures.WORK_FAILED), result.stderr
    assert deployed.marks == [("a", passed, required), ("b", passed, required)]
    closed = ", and closed to jobs" if required and not passed else ""
    assert f"labelled as {'passed' if passed else 'failed'}{closed}: a, b" in result.stderr


def test_only_the_node_that_pairs_name_fails(trainyard, stack_file) -> None:
    def job(manifest: str, wait: Any) -> None:
        assert "trainyard.dev/unverified" in manifest
        text = ring("abc") if "nccl-pairs" in manifest else whole_log("abc", 8, 32, 87.09)
        prints(text, "a", "b", "c")(manifest, wait)

    deployed = RecordedStack(job)
    raw = p5(desired=3, maximum=3, purchase_option="on-demand", availability_zone="us-west-2b")
    path = stack_file({**raw, "reservations": {}, "verification": {"required": True}})
    result = trainyard("verify", "p5-cb", "--stack-file", path, deployed=deployed)
    assert result.exit_code == failures.WORK_FAILED, result.stderr
    assert deployed.marks == [("a", True, True), ("b", True, True), ("c", False, True)]
    assert len(deployed.times) == 1, "`repair` compares nodes that were tested together"


@pytest.mark.parametrize("drain", [True, False])
def test_slurm_nodes_are_drained_on_request(trainyard, stack_file, drain: bool) -> None:
    def job(name: str, wait: Any) -> None:
        text = ring("abc") if name == "nccl-pairs" else whole_log("abc", 8, 4, 87.09)
        prints(text)(name, wait)

    deployed = RecordedStack(job)
    options = ("--minimum-bandwidth", "90", "--nodes", "3", *(("--drain",) if drain else ()))
    path = stack_file(raw_p4de())
    result = trainyard("verify", "p5-cb", *options, "--stack-file", path, deployed=deployed)
    assert result.exit_code == failures.WORK_FAILED
    command = "sudo -i scontrol update nodename=c state=drain reason='verify: "
    assert ("drained: c" if drain else command) in result.stderr
    assert [each.startswith(command) for each in deployed.scripts] == ([True] if drain else [])


@pytest.mark.parametrize(
    ("stack", "says"),
    [
        ("pc-dev", "no stage names a bad node"),
        ("batch-p5", "AWS Batch has no nodes that could be labelled"),
        ("p5-cb", "the nodes of the test are unknown, so none is labelled"),
    ],
)
def test_without_a_bad_node_nothing_is_drained_or_labelled(
    capsys: pytest.CaptureFixture[str], stack: str, says: str
) -> None:
    use_results(stack, Stage(name="transport", result="fail", reason="sockets"))
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("stack", ["pc-dev", "batch-p5"])
def test_nothing_is_said_about_nodes_that_pass(
    capsys: pytest.CaptureFixture[str], stack: str
) -> None:
    use_results(stack, Stage(name="transport", result="pass", reason="EFA"))
    assert capsys.readouterr().err == ""


def use_results(stack: str, stage: Stage) -> None:
    """Let the scheduler of a stack use the results of a test whose nodes are unknown."""
    scheduler = scheduler_of(target_of(find_stack_file(stack), sandbox=False))
    planned = PlannedTest(test="nccl-tests", nodes=nodes("p5.48xlarge", 2), chosen=None)
    scheduler.use_results(Verified(stack=stack, planned=planned, stages=(stage,)), drain=True)

"""What `verify` does with the nodes that it has tested."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.eks import p5
from tests.support.parallelcluster import raw_p4de
from tests.tools.cli.conftest import COMPLETE
from tests.tools.cli.test_verification import PAIRS, SLOW
from tests.tools.cli.test_verify import GOOD, in_scheduler
from tools.cli import failures
from tools.cli.job_wait import RequestedJob
from tools.cli.verified_nodes import use_results
from tools.verify.node_results import node_results
from tools.verify.verdict import Stage
from tools.workspace.stack_files import BATCH, EKS, PARALLELCLUSTER, find_stack_file

RANKS = SLOW.replace("32 nics", "4 nics") + "".join(
    f"# Rank {8 * node + gpu} Group 0 Pid 1 on {host} device {gpu}\n"
    for node, host in enumerate("abc")
    for gpu in range(8)
)
"""The log of a slow test on three p4de.24xlarge nodes."""


def submits(text: str, *nodes: str):
    """Return a job that prints a log and ends on EKS nodes."""

    def submit(*_: object, wait: Any, **__: object) -> None:
        for line in text.splitlines():
            wait.show(line)
        wait.ran_on(nodes)

    return submit


@pytest.fixture(autouse=True)
def as_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    in_scheduler(monkeypatch, "pass", "2 of 2 nodes are as planned")


@pytest.fixture
def marks(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, bool, bool]]]:
    """The nodes that are labelled, whether they have passed, and whether that is required."""
    found: list[tuple[str, bool, bool]] = []
    times: set[datetime] = set()

    def mark(_api: object, mark: Any, *, at: datetime, required: bool) -> bool:
        times.add(at)
        found.append((mark.node, mark.passed, required))
        return True

    monkeypatch.setattr("tools.cli.node_marks.mark_node", mark)
    monkeypatch.setattr(
        "tools.cli.verified_nodes.deployed_cluster", lambda *_, **__: ("p5-cb", "{}")
    )
    monkeypatch.setattr("tools.cli.cluster_client.cluster_client", lambda _: nullcontext())
    monkeypatch.setattr("tools.cli.session.require_credentials", lambda: None)
    yield found
    assert len(times) == 1, "`repair` compares nodes that were tested together"


@pytest.mark.parametrize(("log", "passed"), [(GOOD, True), (SLOW, False)])
@pytest.mark.parametrize("required", [True, False])
def test_the_nodes_of_an_eks_cluster_are_labelled_with_the_result(
    trainyard, stack_file, monkeypatch: pytest.MonkeyPatch, marks, log, passed, required
) -> None:
    monkeypatch.setattr("tools.cli.eks_submission.submit_manifest", submits(log, "a", "b"))
    path = stack_file({**COMPLETE, "verification": {"required": required}})
    result = trainyard("verify", "p5-cb", "--stack-file", path)
    assert result.exit_code == (0 if passed else failures.WORK_FAILED), result.stderr
    assert marks == [("a", passed, required), ("b", passed, required)]
    closed = ", and closed to jobs" if required and not passed else ""
    assert f"labelled as {'passed' if passed else 'failed'}{closed}: a, b" in result.stderr


def test_only_the_node_that_pairs_name_fails(
    trainyard, stack_file, monkeypatch: pytest.MonkeyPatch, marks
) -> None:
    def submit(manifest: str, *, wait: Any, **_: object) -> None:
        assert "trainyard.dev/unverified" in manifest
        text = PAIRS if "nccl-pairs" in manifest else SLOW
        submits(text, "a", "b", "c")(wait=wait)

    monkeypatch.setattr("tools.cli.eks_submission.submit_manifest", submit)
    raw = p5(desired=3, maximum=3, purchase_option="on-demand", availability_zone="us-west-2b")
    path = stack_file({**raw, "reservations": {}, "verification": {"required": True}})
    result = trainyard("verify", "p5-cb", "--stack-file", path)
    assert result.exit_code == failures.WORK_FAILED, result.stderr
    assert marks == [("a", True, True), ("b", True, True), ("c", False, True)]


@pytest.mark.parametrize("drain", [True, False])
def test_slurm_nodes_are_drained_on_request(
    trainyard, stack_file, monkeypatch: pytest.MonkeyPatch, drain: bool
) -> None:
    def submit(_plan: object, _job: object, name: str, *, wait: Any, **__: object) -> None:
        submits(PAIRS if name == "nccl-pairs" else RANKS)(wait=wait)

    ran: list[str] = []
    head_node = SimpleNamespace(run=ran.append)
    monkeypatch.setattr("tools.cli.slurm_submission.submit_directory", submit)
    monkeypatch.setattr(
        "tools.cli.slurm_submission.reached_head_node", lambda *_, **__: nullcontext(head_node)
    )
    options = ("--minimum-bandwidth", "300", "--nodes", "3", *(("--drain",) if drain else ()))
    result = trainyard("verify", "p5-cb", *options, "--stack-file", stack_file(raw_p4de()))
    assert result.exit_code == failures.WORK_FAILED
    command = "sudo -i scontrol update nodename=c state=drain reason='verify: "
    assert ("drained: c" if drain else command) in result.stderr
    assert [each.startswith(command) for each in ran] == ([True] if drain else [])


RANKS = SLOW.replace("32 nics", "4 nics") + "".join(
    f"# Rank {8 * node + gpu} Group 0 Pid 1 on {host} device {gpu}\n"
    for node, host in enumerate("abc")
    for gpu in range(8)
)
"""The log of a slow test on three p4de.24xlarge nodes."""


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (PARALLELCLUSTER, "no stage names a bad node"),
        (BATCH, "AWS Batch has no nodes that could be labelled"),
        (EKS, "the nodes of the test are unknown, so none is labelled"),
    ],
)
def test_without_a_bad_node_nothing_is_drained_or_labelled(
    capsys: pytest.CaptureFixture[str], kind: str, says: str
) -> None:
    failed = [Stage(name="transport", result="fail", reason="sockets")]
    asked = RequestedJob(
        stack_file=find_stack_file("p5-cb"),
        name="nccl-tests",
        nodes=None,
        options={},
        submit=True,
        wait=None,
        sandbox=False,
    )
    use_results(node_results(failed, ()), asked, kind, drain=True)
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("kind", [PARALLELCLUSTER, BATCH])
def test_nothing_is_said_about_nodes_that_pass(
    capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    asked: Any = None
    use_results(node_results([], ("a",)), asked, kind, drain=True)
    assert capsys.readouterr().err == ""

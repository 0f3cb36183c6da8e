"""No date refuses what exists: commands operate a stack long after the support of its version ends.

Each command plans the stack file by a clock that is ahead. What refuses a new deployment is known
from the account only: `tests/eks/test_version_check.py` and
`tests/capacity/test_reservation_review.py`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest

from tests.support.eks import block, changed
from tests.support.kubernetes import OLDEST
from tests.support.recorded_stack import RecordedStack
from tests.support.tracked import ROOT
from trainyard.cli import options
from trainyard.components import clock
from trainyard.components.catalog.versions import STANDARD_SUPPORT_ENDS
from trainyard.stack_files.stack_config import plan_of

LOG = ROOT / "tests/trainyard/verify/logs/p5-two-nodes-labelled.log"
DAY, YEAR = timedelta(days=1), timedelta(days=365)
LATER = [
    pytest.param(DAY, id="a-day"),
    pytest.param(YEAR, id="a-year"),
    pytest.param(3 * YEAR, id="three-years"),
]
KINDS = ["eks-g4dn", "p5-cb", "pc-gpu", "batch-p5", "vpc-multi-az"]
OPERATING = {
    "check-eks": ["check", "p5-cb"],
    "check-slurm": ["check", "pc-gpu"],
    "check-batch": ["check", "batch-p5"],
    "check-network": ["check", "vpc-multi-az"],
    "run-eks": ["run", "p5-cb", "--dry-run", "--image", "a", "--", "train.py"],
    "run-slurm": ["run", "pc-gpu", "--dry-run", "--", "train.py"],
    "run-batch": ["run", "batch-p5", "--dry-run", "--", "train.py"],
    "job-eks": ["job", "p5-cb", "nccl-tests"],
    "job-slurm": ["job", "pc-gpu", "nccl-tests"],
    "job-batch": ["job", "batch-p5", "nccl-tests"],
    "cost-eks": ["cost", "p5-cb"],
    "cost-slurm": ["cost", "pc-gpu"],
    "cost-batch": ["cost", "batch-p5"],
    "cost-network": ["cost", "vpc-multi-az"],
}
"""Commands that read the stack file, and neither an account nor a sandbox."""
OLD = changed(architecture__kubernetes_version=OLDEST)
ENDED = block(ends_at="2026-11-27T11:30:00Z")
"""A stack whose only block is over, and whose other nodes are in use."""


def move_clock(monkeypatch: pytest.MonkeyPatch, ahead: timedelta) -> None:
    monkeypatch.setenv(clock.VARIABLE, str(ahead.total_seconds()))


def after_support(version: str, later: timedelta) -> timedelta:
    """Return how far ahead of now a clock is some time after the support of a version ends."""
    ends = datetime.combine(STANDARD_SUPPORT_ENDS[version], time(), tzinfo=UTC)
    return max(ends - datetime.now(UTC), timedelta()) + later


@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("command", OPERATING.values(), ids=OPERATING)
def test_a_command_that_operates_a_stack_refuses_no_date(
    trainyard,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: Sequence[str],
    later: timedelta,
) -> None:
    monkeypatch.chdir(tmp_path)
    move_clock(monkeypatch, later)
    program = command.index("--") if "--" in command else len(command)
    result = trainyard(*command[:program], "--sandbox", *command[program:])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("stack", KINDS)
def test_a_stack_is_planned_at_any_time(
    trainyard, monkeypatch: pytest.MonkeyPatch, stack: str, later: timedelta
) -> None:
    """This plan is what `plan`, `up`, `jobs`, `logs`, `repair`, `verify` and `diagnose` begin with.

    `trainyard` sets the environment.
    """
    move_clock(monkeypatch, later)
    assert plan_of(options.target(stack, path=None, sandbox=True).stack_file).name


@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("cluster", [OLD, ENDED], ids=["version", "block"])
def test_a_stack_that_is_too_old_to_be_created_is_operated(
    trainyard, stack_file, monkeypatch: pytest.MonkeyPatch, cluster: object, later: timedelta
) -> None:
    move_clock(monkeypatch, after_support(OLDEST, later))
    given = ("p5-cb", "--stack-file", stack_file(cluster))
    checked = trainyard("check", *given, "--json")
    assert checked.exit_code == 0, checked.output
    (answer,) = json.loads(checked.stdout)
    assert any(word in " ".join(answer["notes"]) for word in ("standard support", "is over"))
    for command in (("cost",), ("verify", "--log", LOG)):
        result = trainyard(command[0], *given, *command[1:])
        assert result.exit_code in (0, 1), result.output
        assert "kubernetes_version" not in result.stderr
        assert "ends_at" not in result.stderr
    deployed = RecordedStack()
    submitted = trainyard("job", *given, "efa-smoke", "--submit", deployed=deployed)
    if cluster is OLD:
        assert submitted.exit_code == 0, submitted.output
        assert deployed.submitted
    assert "is in the past" not in submitted.stderr

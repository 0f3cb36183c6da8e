"""`job --submit --wait` for Slurm: states, the log, the exit code, and the limit."""

from __future__ import annotations

import pytest

from tools.cli import failures
from tools.cli.job_wait import JobWait
from tools.cli.slurm_job_wait import POLL_SECONDS, wait_for

# As `scontrol --oneliner show job` of Slurm prints it; fields that do not matter are left out.
SHOWN = (
    "JobId=12 JobName=nccl-tests UserId=ec2-user(1000) JobState={state} Reason={reason} "
    "Dependency=(null) Requeue=1 ExitCode={code} RunTime=00:01:07 Partition=gpu NumNodes=2 "
    "Command=/home/ec2-user/trainyard-jobs/nccl-tests-ab/all-reduce.sbatch "
    "StdOut=/home/ec2-user/trainyard-jobs/nccl-tests-ab/nccl-tests-12.out Power=\n"
)
LOG = "/home/ec2-user/trainyard-jobs/nccl-tests-ab/nccl-tests-12.out"


class HeadNode:
    """A job that is seen in one state after the other; the last one stays."""

    def __init__(self, *states: tuple[str, str]) -> None:
        self.states, self.seconds = list(states), 0.0
        self.scripts: list[str] = []

    def run(self, script: str) -> str:
        self.scripts.append(script)
        if "tail" in script:
            return "# Avg bus bandwidth    : 372.3\n"
        assert script == "scontrol --oneliner show job 12\n"
        state, reason = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        return SHOWN.format(state=state, reason=reason, code="9:0" if state == "FAILED" else "0:0")

    def pause(self, seconds: float) -> None:
        self.seconds += seconds

    def follow(self, minutes: float = 30) -> None:
        limits = JobWait(minutes, pause=self.pause, now=lambda: self.seconds)
        wait_for(self.run, "12", limits)


def test_states_are_told_once_and_the_log_is_printed(capsys) -> None:
    waits = ("PENDING", "Resources")
    node = HeadNode(waits, waits, ("RUNNING", "None"), ("COMPLETED", "None"))
    node.follow()
    printed = capsys.readouterr()
    assert printed.err.count("Slurm job 12 is PENDING: Resources") == 1
    assert "Slurm job 12 is RUNNING\n" in printed.err
    assert printed.out == "# Avg bus bandwidth    : 372.3\n\n"
    assert node.scripts[-1] == f"[ ! -f {LOG} ] || tail -c 20000 -- {LOG}\n"
    assert node.seconds == 3 * POLL_SECONDS


def test_a_job_that_fails_prints_its_log_and_ends_with_its_exit_code(capsys) -> None:
    node = HeadNode(("FAILED", "NonZeroExitCode"))
    with pytest.raises(failures.CommandError, match="is FAILED: NonZeroExitCode, exit code 9"):
        node.follow()
    assert "Avg bus bandwidth" in capsys.readouterr().out


def test_a_job_behind_one_that_failed_is_cancelled() -> None:
    """`--kill-on-invalid-dep=yes`, as the build before the test."""
    with pytest.raises(failures.CommandError, match="CANCELLED: DependencyNeverSatisfied"):
        HeadNode(("PENDING", "Dependency"), ("CANCELLED", "DependencyNeverSatisfied")).follow()


def test_a_job_that_never_starts_ends_the_wait_and_stays_in_the_queue() -> None:
    node = HeadNode(("PENDING", "ReqNodeNotAvail"))
    with pytest.raises(failures.CommandError, match=r"after 30 minutes, .*ReqNode.*stays"):
        node.follow()
    assert node.seconds == 30 * 60

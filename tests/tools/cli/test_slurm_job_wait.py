"""`job --submit --wait` for Slurm: states, the log, the exit code, and the limit."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tools.cli import failures
from tools.cli.job_wait import JobWait
from tools.cli.slurm_job_wait import POLL_SECONDS, wait_for

# Output of Slurm's `scontrol --oneliner show job`, without irrelevant fields.
SHOWN = (
    "JobId={job} JobName={name} UserId=ec2-user(1000) JobState={state} Reason={reason} "
    "Dependency={dependency} Requeue=1 ExitCode={code} RunTime=00:01:07 Partition=gpu NumNodes=2 "
    "Command=/home/ec2-user/trainyard-jobs/nccl-tests-ab/{name}.sbatch "
    "StdOut=/home/ec2-user/trainyard-jobs/nccl-tests-ab/{name}-{job}.out Power=\n"
)
NAMES = {"11": "nccl-build", "12": "nccl-tests"}
LOG = "/home/ec2-user/trainyard-jobs/nccl-tests-ab/nccl-tests-12.out"


class HeadNode:
    """Job 12 in successive states; the last one repeats.

    The first read determines its dependency. `build` are the states of job 11 before it.
    """

    def __init__(self, *states: tuple[str, str], build: Sequence[tuple[str, str]] = ()) -> None:
        self.states = {"11": list(build), "12": [states[0], *states]}
        self.states["11"][:0] = self.states["11"][:1]
        self.seconds = 0.0
        self.scripts: list[str] = []

    def run(self, script: str) -> str:
        self.scripts.append(script)
        if "tail" in script:
            return "# Avg bus bandwidth    : 372.3\n"
        job = script.removeprefix("scontrol --oneliner show job ").rstrip("\n")
        left = self.states[job]
        state, reason = left.pop(0) if len(left) > 1 else left[0]
        dependency = "afterok:11(unfulfilled)" if reason == "Dependency" else "(null)"
        code = "9:0" if state == "FAILED" else "0:0"
        return SHOWN.format(
            job=job,
            name=NAMES[job],
            state=state,
            reason=reason,
            dependency=dependency,
            code=code,
        )

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
    assert printed.err.count("Slurm job 12 (nccl-tests) is PENDING: Resources") == 1
    assert "Slurm job 12 (nccl-tests) is RUNNING\n" in printed.err
    assert printed.out == "# Avg bus bandwidth    : 372.3\n\n"
    assert node.scripts[-1] == f"[ ! -f {LOG} ] || tail -c 20000 -- {LOG}\n"
    assert node.seconds == 3 * POLL_SECONDS


def test_a_job_that_fails_prints_its_log_and_ends_with_its_exit_code(capsys) -> None:
    node = HeadNode(("FAILED", "NonZeroExitCode"))
    with pytest.raises(failures.CommandError, match="is FAILED: NonZeroExitCode, exit code 9"):
        node.follow()
    assert "Avg bus bandwidth" in capsys.readouterr().out


def test_a_build_may_take_longer_than_the_limit_for_nodes(capsys) -> None:
    """The build runs for 50 minutes; then the test waits for 20 minutes and runs."""
    node = HeadNode(
        ("PENDING", "Dependency"),
        *[("PENDING", "Resources")] * (20 * 60 // POLL_SECONDS),
        ("RUNNING", "None"),
        ("COMPLETED", "None"),
        build=[*[("RUNNING", "None")] * (50 * 60 // POLL_SECONDS), ("COMPLETED", "None")],
    )
    node.follow()
    printed = capsys.readouterr()
    assert node.seconds > 70 * 60
    assert printed.err.count("Slurm job 11 (nccl-build) is RUNNING") == 1
    assert printed.out == "# Avg bus bandwidth    : 372.3\n\n"
    assert [each for each in node.scripts if "tail" in each] == [
        f"[ ! -f {LOG} ] || tail -c 20000 -- {LOG}\n"
    ]


def test_a_build_that_fails_is_the_failure_and_its_log_is_printed(capsys) -> None:
    node = HeadNode(
        ("PENDING", "Dependency"), build=[("RUNNING", "None"), ("FAILED", "NonZeroExitCode")]
    )
    with pytest.raises(failures.CommandError, match=r"11 \(nccl-build\) is FAILED.*exit code 9"):
        node.follow()
    assert "nccl-build-11.out" in node.scripts[-1]
    assert "Avg bus bandwidth" in capsys.readouterr().out


def test_a_build_that_gets_no_node_ends_the_wait() -> None:
    node = HeadNode(("PENDING", "Dependency"), build=[("PENDING", "Resources")])
    with pytest.raises(failures.CommandError, match=r"after 30 min.*11 \(nccl-build\) is PENDING"):
        node.follow()


def test_a_job_that_is_cancelled_while_it_waits_ends_the_wait() -> None:
    with pytest.raises(failures.CommandError, match="is CANCELLED, exit code 0"):
        HeadNode(("PENDING", "Resources"), ("CANCELLED", "None")).follow()


def test_a_job_that_never_starts_ends_the_wait_and_stays_in_the_queue() -> None:
    node = HeadNode(("PENDING", "ReqNodeNotAvail"))
    with pytest.raises(failures.CommandError, match=r"after 30 minutes, .*ReqNode.*stays"):
        node.follow()
    assert node.seconds == 30 * 60

"""`job --submit --wait` for Slurm: states, the log, the exit code, and the limit."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from trainyard.cli import failures
from trainyard.schedulers.job_wait import JobWait
from trainyard.schedulers.slurm.job_wait import (
    COMPLETED,
    FAILED_STATES,
    MOST_LINES,
    WAITING_STATES,
    wait_for,
)

POLL_SECONDS = 15

# Output of Slurm's `scontrol --oneliner show job`, without irrelevant fields.
SHOWN = (
    "JobId={job} JobName={name} UserId=ec2-user(1000) JobState={state} Reason={reason} "
    "Dependency={dependency} Requeue=1 ExitCode={code} RunTime=00:01:07 Partition=gpu NumNodes=2 "
    "Command=/home/ec2-user/trainyard-jobs/nccl-tests-ab/{name}.sbatch "
    "StdOut=/home/ec2-user/trainyard-jobs/nccl-tests-ab/{name}-{job}.out Power=\n"
)
NAMES = {"11": "nccl-build", "12": "nccl-tests"}
LOG = "/home/ec2-user/trainyard-jobs/nccl-tests-ab/nccl-tests-12.out"


SHOWN_STATES = frozenset(
    {
        *("COMPLETING", "STAGE_OUT", "CONFIGURING", "RESIZING", "REQUEUED", "REQUEUE_FED"),
        *("REQUEUE_HOLD", "SPECIAL_EXIT", "STOPPED", "REVOKED", "RESV_DEL_HOLD", "SIGNALING"),
        *("PENDING", "RUNNING", "SUSPENDED", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT"),
        *("NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY", "EXPEDITING"),
    }
)
"""All that `squeue` and `scontrol` call a state: `job_state_string` in Slurm's
src/common/slurm_protocol_defs.c, the same in 22.05, 24.11 and 25.05; EXPEDITING since 26.05."""
ON_NODES = frozenset(
    {
        *("RUNNING", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING"),
        *("COMPLETING", "STAGE_OUT"),
    }
)
"""https://slurm.schedmd.com/job_state_codes.html"""


def test_every_state_of_slurm_waits_runs_or_ends() -> None:
    known = [WAITING_STATES, ON_NODES, {COMPLETED}, FAILED_STATES]
    assert frozenset[str]().union(*known) == SHOWN_STATES
    assert sum(map(len, known)) == len(SHOWN_STATES)


class HeadNode:
    """Job 12 in successive states; the last one repeats.

    The first read determines its dependency. `build` are the states of job 11 before it.
    """

    def __init__(self, *states: tuple[str, str], build: Sequence[tuple[str, str]] = ()) -> None:
        self.states = {"11": list(build), "12": [states[0], *states]}
        self.states["11"][:0] = self.states["11"][:1]
        self.code = "9:0"
        self.log = "# Avg bus bandwidth    : 372.3\n"
        self.seconds = 0.0
        self.scripts: list[str] = []

    def run(self, script: str) -> str:
        self.scripts.append(script)
        if script.startswith("[ -f "):
            return ""
        if "tail" in script:
            return self.log
        job = script.removeprefix("scontrol --oneliner show job ").rstrip("\n")
        left = self.states[job]
        state, reason = left.pop(0) if len(left) > 1 else left[0]
        dependency = "afterok:11(unfulfilled)" if reason == "Dependency" else "(null)"
        code = self.code if state == "FAILED" else "0:0"
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
    assert printed.out == "# Avg bus bandwidth    : 372.3\n"
    assert node.scripts[-1] == f"[ ! -f {LOG} ] || tail -n +1 -- {LOG} | head -c 20000\n"
    assert node.seconds == 3 * POLL_SECONDS


def test_a_job_that_fails_prints_its_log_and_ends_with_its_exit_code(capsys) -> None:
    node = HeadNode(("FAILED", "NonZeroExitCode"))
    with pytest.raises(failures.CommandError, match="is FAILED: NonZeroExitCode, exit code 9"):
        node.follow()
    assert "Avg bus bandwidth" in capsys.readouterr().out


def test_a_job_that_fails_names_the_section_of_the_error_in_its_log() -> None:
    node = HeadNode(("FAILED", "NonZeroExitCode"))
    node.log = "node-2:99:99 [0] NCCL WARN Error: network Libfabric not found.\n"
    with pytest.raises(failures.JobFailedError, match="#error-network-libfabric-not-found"):
        node.follow()


def test_a_build_that_fails_names_the_section_of_the_error_in_its_log() -> None:
    node = HeadNode(
        ("PENDING", "Dependency"), build=[("RUNNING", "None"), ("FAILED", "NonZeroExitCode")]
    )
    node.log = "tar: nccl-tests: Cannot write: No space left on device\n"
    with pytest.raises(failures.JobFailedError, match=r"nccl-build.*\n.*#no-space-left-on-device"):
        node.follow()


@pytest.mark.parametrize(
    ("state", "code", "exits"),
    [
        ("FAILED", "77:0", 77),
        ("FAILED", "2:0", 1),
        ("FAILED", "0:9", 137),
        ("TIMEOUT", "0:0", 124),
        ("NODE_FAIL", "0:0", 1),
    ],
)
def test_the_command_ends_with_the_exit_code_of_the_job(state: str, code: str, exits: int) -> None:
    node = HeadNode((state, "None"))
    node.code = code
    with pytest.raises(failures.JobFailedError) as caught:
        node.follow()
    assert caught.value.exit_code == exits


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
    assert printed.out == "# Avg bus bandwidth    : 372.3\n"
    assert not [each for each in node.scripts if "nccl-build-11.out" in each]


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


class Growing:
    """A running job whose log grows from look to look; its scripts run in a real Bash."""

    def __init__(self, log: Path, *parts: str) -> None:
        self.log, self.parts = log, [*parts]
        self.reads = 0

    def run(self, script: str) -> str:
        if not script.startswith("scontrol"):
            self.reads += 1
            done = subprocess.run(
                ["bash"], input=script, capture_output=True, text=True, check=True
            )
            return done.stdout
        state = "RUNNING" if self.parts else "COMPLETED"
        if self.parts:
            with self.log.open("a", encoding="utf-8") as file:
                file.write(self.parts.pop(0))
        return f"JobId=12 JobName=train JobState={state} Reason=None StdOut={self.log}\n"


def shown_at_each_look(log: Path, *parts: str) -> list[list[str]]:
    looks: list[list[str]] = [[]]
    wait = JobWait(
        pause=lambda _: looks.append([]), now=lambda: 0.0, show=lambda said: looks[-1].append(said)
    )
    wait_for(Growing(log, "", *parts).run, "12", wait)
    return looks


def test_the_log_is_printed_line_by_line_while_the_job_runs(tmp_path: Path) -> None:
    log = tmp_path / "train-12.out"
    parts = ("one\ntw", "o\nthr", "", "ee")
    assert shown_at_each_look(log, *parts) == [["one"], ["two"], [], [], ["three"]]


def test_a_long_log_comes_in_parts_without_what_is_too_old(tmp_path: Path, capsys) -> None:
    lines = [f"line {number} é" for number in range(MOST_LINES + 500)]
    (looks,) = shown_at_each_look(tmp_path / "a.out", "".join(f"{each}\n" for each in lines))[:1]
    printed = "\n".join(looks).splitlines()
    assert printed == lines[500:]
    assert "500 lines are left out" in capsys.readouterr().err


def test_a_job_without_a_log_prints_nothing(tmp_path: Path) -> None:
    log = tmp_path / "none" / "x.out"
    wait = JobWait(pause=lambda _: None, now=lambda: 0.0, show=pytest.fail)
    job = Growing(log)
    job.parts = []
    wait_for(job.run, "12", wait)
    assert job.reads == 2

"""Waiting for a Batch job: its states, why it does not start, and the limit."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from trainyard.cli import failures
from trainyard.schedulers.batch import job_wait as batch_job_wait
from trainyard.schedulers.batch.job_wait import wait_for
from trainyard.schedulers.job_wait import POLL_SECONDS, JobWait

FULL = (
    "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - Service cannot fulfill the capacity requested for "
    "instance type p5.48xlarge"
)
HELD = "reservation cr-0 (2 x p5.48xlarge) is full: 2 used by p5-cb (i-1, i-2)"


class Clock:
    """A clock that only waiting advances."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def pause(self, seconds: float) -> None:
        self.seconds += seconds

    def wait(self, minutes: float = 30) -> JobWait:
        return JobWait(start_limit_minutes=minutes, pause=self.pause, now=lambda: self.seconds)


class Batch:
    """A job in successive states, each for a number of reads, with or without a reason."""

    def __init__(self, *looks: tuple[str, str | None, int]) -> None:
        self.looks = [(state, reason) for state, reason, count in looks for _ in range(count)]

    def describe_jobs(self, jobs: list[str]) -> dict[str, list[dict[str, str]]]:
        state, reason = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        said = {"statusReason": reason} if reason else {}
        return {"jobs": [{"jobId": jobs[0], "status": state, **said}]}


def no_log(batch: Any, job_id: str, *, has_ended: bool) -> None:
    """A job without a log."""
    assert job_id == "7d1c"
    assert batch is not None
    assert has_ended is not None


def test_a_state_is_told_once_and_a_job_that_fails_ends_the_command(capsys) -> None:
    exited = "Essential container in task exited"
    batch, clock = Batch(("RUNNABLE", None, 2), ("FAILED", exited, 1)), Clock()
    with pytest.raises(failures.CommandError, match=f"failed: {exited}") as caught:
        wait_for(batch, "7d1c", lambda _: [], clock.wait(), no_log)
    assert caught.value.exit_code == failures.WORK_FAILED
    assert clock.seconds == 2 * POLL_SECONDS
    assert capsys.readouterr().err.count("RUNNABLE") == 1


@pytest.mark.parametrize(
    ("changes", "exits"),
    [
        ({"container": {"exitCode": 77}}, 77),
        ({"attempts": [{"container": {"exitCode": 9}}, {"container": {"exitCode": 77}}]}, 77),
        ({"attempts": [{"container": {"exitCode": 2}}]}, 1),
        ({"attempts": [{"container": {"reason": "CannotPullContainerError"}}]}, 1),
        (
            {
                "statusReason": "Job attempt duration exceeded timeout",
                "container": {"exitCode": 137},
            },
            124,
        ),
        ({}, 1),
    ],
)
def test_the_command_ends_with_the_exit_code_of_the_main_node(
    changes: dict[str, Any], exits: int
) -> None:
    job = {"jobId": "7d1c", "status": "FAILED", **changes}
    batch = SimpleNamespace(describe_jobs=lambda **_: {"jobs": [job]})
    with pytest.raises(failures.JobFailedError) as caught:
        wait_for(batch, "7d1c", lambda _: [], Clock().wait(), no_log)
    assert caught.value.exit_code == exits


@pytest.mark.parametrize(
    ("reason", "section"),
    [
        ("OutOfMemoryError: Container killed due to memory usage", "#oomkilled"),
        ("CannotPullContainerError: pull image manifest has been retried", "#imagepullbackoff"),
    ],
)
def test_a_job_that_fails_names_the_section_of_the_reason_of_its_container(
    reason: str, section: str
) -> None:
    """Reasons of ECS: https://docs.aws.amazon.com/AmazonECS/latest/developerguide/stopped-task-error-codes.html"""
    exited = "Essential container in task exited"
    attempt = {"container": {"exitCode": 137, "reason": reason}, "statusReason": exited}
    job = {"jobId": "7d1c", "status": "FAILED", "statusReason": exited, "attempts": [attempt]}
    batch = SimpleNamespace(describe_jobs=lambda **_: {"jobs": [job]})
    with pytest.raises(failures.JobFailedError, match=section):
        wait_for(batch, "7d1c", lambda _: [], Clock().wait(), no_log)


def test_what_batch_says_of_a_job_that_waits_is_told_at_once_and_once(capsys) -> None:
    batch = Batch(("RUNNABLE", None, 1), ("RUNNABLE", FULL, 5), ("SUCCEEDED", None, 1))
    wait_for(batch, "7d1c", lambda _: [HELD], Clock().wait(), no_log)
    said = capsys.readouterr().err
    assert said.count(FULL) == 1
    assert said.count(HELD) == 1


def test_a_job_that_waits_without_a_reason_is_asked_about_after_a_minute(capsys) -> None:
    clock, asked_at = Clock(), list[float]()

    def explain(_: Any) -> list[str]:
        asked_at.append(clock.seconds)
        return [HELD]

    batch = Batch(("RUNNABLE", None, 30), ("SUCCEEDED", None, 1))
    wait_for(batch, "7d1c", explain, clock.wait(), no_log)
    assert asked_at == [batch_job_wait.QUIET_SECONDS]
    assert HELD in capsys.readouterr().err


def test_waiting_for_nodes_ends_at_the_limit_with_the_reason() -> None:
    clock = Clock()
    with pytest.raises(failures.CommandError) as caught:
        wait_for(Batch(("RUNNABLE", FULL, 1)), "7d1c", lambda _: [HELD], clock.wait(2), no_log)
    assert clock.seconds == 120
    assert caught.value.exit_code == failures.WORK_FAILED
    for words in (
        "after 2 minutes",
        "still RUNNABLE",
        "stays in the queue",
        FULL,
        HELD,
        "--wait-minutes",
    ):
        assert words in str(caught.value)


def test_a_job_that_runs_is_waited_for_beyond_the_limit() -> None:
    clock = Clock()
    wait_for(
        Batch(("RUNNING", None, 100), ("SUCCEEDED", None, 1)),
        "7d1c",
        lambda _: [],
        clock.wait(1),
        no_log,
    )
    assert clock.seconds == 100 * POLL_SECONDS


def test_a_job_goes_on_where_the_account_answers_no_more() -> None:
    class Expired(Batch):
        def describe_jobs(self, jobs: list[str]) -> dict[str, list[dict[str, str]]]:
            fault = {"Code": "ExpiredTokenException", "Message": "The security token is expired"}
            raise ClientError({"Error": fault}, "DescribeJobs")

    with pytest.raises(
        failures.CommandError,
        match=r"7d1c can no longer be read; the job continues: .*ExpiredToken",
    ):
        wait_for(Expired(("RUNNABLE", None, 1)), "7d1c", lambda _: [], Clock().wait(), no_log)

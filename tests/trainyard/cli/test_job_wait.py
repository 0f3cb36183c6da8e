"""A failed look at a job does not end a wait of hours."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from kubernetes.client import ApiException
from urllib3.exceptions import ProtocolError

from trainyard.cli import failures
from trainyard.schedulers.batch import job_wait as batch_job_wait
from trainyard.schedulers.job_wait import LOST_MINUTES, POLL_SECONDS, JobWait, going_on, look_again
from trainyard.schedulers.kubernetes import job_wait as kubernetes_job_wait
from trainyard.schedulers.slurm import job_wait as slurm_job_wait
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import target_of


class Job:
    """A job whose first looks fail."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.seconds = 0.0

    def look(self) -> str:
        if self.errors:
            raise self.errors.pop(0)
        return "running"

    def pause(self, seconds: float) -> None:
        self.seconds += seconds

    def seen(self, passes: Callable[[Exception], str]) -> str:
        return look_again(self.look, JobWait(pause=self.pause, now=lambda: self.seconds), passes)


def test_jobs_whose_wait_is_interrupted_go_on() -> None:
    target = target_of(find_stack_file("p5-cb"), sandbox=True)
    with pytest.raises(failures.CancelledError) as raised, going_on(target, "a/x", "a/y"):
        raise KeyboardInterrupt
    assert raised.value.exit_code == 3
    said, *commands = str(raised.value).splitlines()
    assert said == "only the wait has ended: a/x and a/y go on; commands for it:"
    assert [each.strip() for each in commands] == [
        "./trainyard jobs p5-cb --sandbox",
        "./trainyard logs p5-cb a/x --sandbox --follow",
        "./trainyard cancel p5-cb a/x --sandbox",
        "./trainyard logs p5-cb a/y --sandbox --follow",
        "./trainyard cancel p5-cb a/y --sandbox",
    ]


def test_an_error_that_passes_is_told_once(capsys) -> None:
    job = Job(*[OSError("lost")] * 3)
    assert job.seen(str) == "running"
    assert job.seconds == 3 * POLL_SECONDS
    assert capsys.readouterr().err.count("is read again: lost") == 1


def test_an_error_that_does_not_pass_in_time_ends_the_wait() -> None:
    job = Job(*[OSError("lost")] * 1000)
    with pytest.raises(OSError, match="lost"):
        job.seen(str)
    assert job.seconds == LOST_MINUTES * 60


def test_any_other_error_ends_the_wait_at_once() -> None:
    job = Job(OSError("denied"))
    with pytest.raises(OSError, match="denied"):
        job.seen(lambda _: "")
    assert job.seconds == 0


def refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": code}}, "DescribeJobs")


LOST = EndpointConnectionError(endpoint_url="https://aws")
NO_CONTROLLER = failures.CommandError(
    "a command on the head node i-1 ended with Failed: slurm_load_jobs error: Unable to contact "
    "slurm controller (connect failure)"
)


@pytest.mark.parametrize(
    ("passes", "error", "expected"),
    [
        (kubernetes_job_wait.transient, ProtocolError("reset"), True),
        (kubernetes_job_wait.transient, ApiException(status=503, reason="Unavailable"), True),
        (kubernetes_job_wait.transient, ApiException(status=429, reason="Too Many Requests"), True),
        (kubernetes_job_wait.transient, ApiException(status=404, reason="Not Found"), False),
        (batch_job_wait._transient, LOST, True),
        (batch_job_wait._transient, refused("ThrottlingException"), True),
        (batch_job_wait._transient, refused("ExpiredTokenException"), False),
        (slurm_job_wait._transient, LOST, True),
        (slurm_job_wait._transient, NO_CONTROLLER, True),
        (slurm_job_wait._transient, failures.CommandError("Invalid job id specified"), False),
    ],
)
def test_each_scheduler_knows_what_passes(
    passes: Callable[[Exception], str], error: Exception, expected: bool
) -> None:
    assert bool(passes(error)) is expected

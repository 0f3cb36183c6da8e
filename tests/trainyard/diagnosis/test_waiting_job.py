"""The reason why a Batch job waits, derived from the answers of Batch and EC2."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from trainyard.diagnosis.failed_pool import ReservationUse
from trainyard.diagnosis.waiting_job import QueuedJob, read_queued_job, why_it_waits

FREE = ReservationUse("cr-0", "active", "p5.48xlarge", 2, 2)
FULL = replace(FREE, available=0, holders={"p5-cb": ("i-1", "i-2")})
OWN = replace(FREE, available=0, holders={"batch-p5": ("i-3", "i-4")})
JOB = QueuedJob(
    reason="",
    environment="p5",
    stack="batch-p5",
    environment_problem="",
    ahead=(),
    reservations=(FREE,),
)


def why(**change: object) -> str:
    return "\n".join(why_it_waits(replace(JOB, **change)))


def test_a_reservation_that_another_stack_holds_is_named_with_its_holder() -> None:
    assert "is full: 2 used by p5-cb (i-1, i-2)" in why(reservations=(FULL,))


def test_a_reservation_that_is_over_is_named() -> None:
    over = replace(FREE, state="cancelled", available=0)
    said = "EC2 launches no instances into cr-0 (2 x p5.48xlarge): it is cancelled"
    assert said in why(reservations=(over,))


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        pytest.param(
            "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE - CE(s) associated with the job "
            "queue have insufficient maxvCpus (384).",
            "increase `maximum` of architecture.compute_environments.p5",
            id="too-few-vcpus",
        ),
        pytest.param(
            "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT - The job resource requirement "
            "(vCPU/memory/GPU) is higher than that can be met by the CE(s) attached to the job "
            "queue.",
            "reduce vcpus, memory_mib or accelerators",
            id="too-large-a-job",
        ),
        pytest.param(
            "MISCONFIGURATION:SERVICE_ROLE_PERMISSIONS - Batch operation encountered permission "
            "error.",
            "create-service-linked-role --aws-service-name batch.amazonaws.com",
            id="no-role",
        ),
    ],
)
def test_what_batch_calls_a_misconfiguration_comes_with_its_mending(reason: str, said: str) -> None:
    assert said in why(reason=reason)
    assert "more: docs/troubleshooting.md#misconfiguration" in why(reason=reason)


def test_jobs_before_it_and_a_broken_environment_are_named() -> None:
    said = why(
        ahead=("nccl-tests 7d1b (RUNNING)",),
        environment_problem="compute environment batch-p5-p5 is INVALID: CLIENT_ERROR - no",
    )
    assert said.splitlines()[0] == "compute environment batch-p5-p5 is INVALID: CLIENT_ERROR - no"
    assert "before it in the queue: nccl-tests 7d1b (RUNNING)" in said


OPEN = {"computeEnvironmentName": "open", "state": "ENABLED", "status": "VALID"}
CLOSED = {**OPEN, "computeEnvironmentName": "closed", "state": "DISABLED"}
INVALID = {**OPEN, "computeEnvironmentName": "invalid", "status": "INVALID"}


@pytest.mark.parametrize(
    ("environments", "said"),
    [
        pytest.param([CLOSED], "disabled compute environment: closed; in a Capacity", id="closed"),
        pytest.param([CLOSED, OPEN], "", id="one-of-two-blocks-is-open"),
        pytest.param([CLOSED, INVALID], "compute environment invalid is INVALID", id="invalid"),
        pytest.param([INVALID, OPEN], "", id="another-one-is-valid"),
        pytest.param([], "no longer exists", id="none"),
    ],
)
def test_the_environments_of_a_queue_are_a_cause_if_none_of_them_takes_jobs(
    environments: list[dict[str, str]], said: str
) -> None:
    order = [
        {"order": number, "computeEnvironment": each["computeEnvironmentName"]}
        for number, each in enumerate(environments)
    ]
    batch = SimpleNamespace(
        describe_job_queues=lambda **_: {"jobQueues": [{"computeEnvironmentOrder": order}]},
        describe_compute_environments=lambda **_: {"computeEnvironments": environments},
        list_jobs=lambda **_: {"jobSummaryList": []},
    )
    job = {"jobId": "7d1c", "jobQueue": "q"}
    queued = read_queued_job(batch, None, job, environment="p5", stack="b", reservation_ids=[])
    assert said in queued.environment_problem
    assert bool(queued.environment_problem) == bool(said)


def test_own_nodes_that_take_no_job_have_not_registered() -> None:
    said = why(reservations=(OWN,))
    assert (
        "its nodes are running (i-3, i-4) but accept no job: they have not registered with ECS"
        in said
    )
    assert said.index("no route") < said.index("a role without") < said.index("user data")


def test_a_job_that_only_waits_for_its_nodes_says_how_long_that_takes() -> None:
    assert why() == (
        "no cause found: nodes of large instance types take up to ten minutes to start"
    )

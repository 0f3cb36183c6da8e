"""Schedules that open and close a compute environment of Batch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from tests.support.batch_account import REGION, Batch
from tests.support.sandbox_aws import Account, refused
from trainyard.components.batch.compute_environment import update_policy
from trainyard.components.identity.one_time_calls import scheduler_trust
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.server import AwsServer
from trainyard.sandbox.aws.timekeeper import Timekeeper

HOUR = timedelta(hours=1)
TARGET = "arn:aws:scheduler:::aws-sdk:batch:updateComputeEnvironment"


@dataclass
class Scheduled:
    """A compute environment with its queue, and a role that may update it."""

    batch: Batch
    environment: str
    role: str
    keeper: Timekeeper

    def schedule(self, target: str = TARGET, **given: str) -> None:
        """Schedule a call in an hour."""
        self.batch.account.client("scheduler").create_schedule(
            Name="call",
            ScheduleExpression=f"at({CLOCK.now() + HOUR:%Y-%m-%dT%H:%M:%S})",
            FlexibleTimeWindow={"Mode": "OFF"},
            Target={"Arn": target, "RoleArn": self.role, "Input": json.dumps(given)},
        )

    def call(self, state: str) -> None:
        """Let Scheduler set the state of the environment."""
        self.schedule(ComputeEnvironment=self.environment, State=state)
        CLOCK.advance(HOUR)
        self.keeper.tick()
        self.batch.account.client("scheduler").delete_schedule(Name="call")

    @property
    def state(self) -> Any:
        return self.batch.described()["state"]


@pytest.fixture
def scheduled() -> Iterator[Scheduled]:
    with AwsServer(keep_time=False) as server:
        batch = Batch(Account(server))
        environment, iam = batch.environment(), batch.account.iam
        batch.queue(environment)
        batch.single()
        role = iam.create_role(
            RoleName="opens", AssumeRolePolicyDocument=scheduler_trust(environment)
        )["Role"]["Arn"]
        iam.put_role_policy(
            RoleName="opens", PolicyName="update", PolicyDocument=update_policy(environment)
        )
        keeper = Timekeeper(server.application.lock, REGION)
        yield Scheduled(batch, environment, role, keeper)


def test_a_closed_environment_finishes_its_jobs_and_starts_others_when_it_opens(
    scheduled: Scheduled,
) -> None:
    batch = scheduled.batch
    scheduled.call("DISABLED")
    assert scheduled.state == "DISABLED"
    waits = batch.submit("one")
    batch.wait(10)
    assert batch.job(waits)["status"] == "RUNNABLE"
    assert batch.account.instances() == []
    scheduled.call("ENABLED")
    assert batch.job(waits)["status"] == "STARTING"
    batch.client.update_compute_environment(computeEnvironment="env", state="DISABLED")
    batch.wait(12)
    assert batch.job(waits)["status"] == "SUCCEEDED"
    assert batch.described()["computeResources"]["desiredvCpus"] == 0


def test_a_role_that_may_not_update_the_environment_changes_nothing(scheduled: Scheduled) -> None:
    scheduled.batch.account.iam.put_role_policy(
        RoleName="opens",
        PolicyName="update",
        PolicyDocument=update_policy(f"{scheduled.environment}-other"),
    )
    scheduled.call("DISABLED")
    assert scheduled.state == "ENABLED"


def test_the_names_of_the_request_of_batch_are_refused(scheduled: Scheduled) -> None:
    with refused("ValidationException", "following field(s): ComputeEnvironment"):
        scheduled.schedule(computeEnvironment=scheduled.environment, state="DISABLED")


@pytest.mark.parametrize(
    ("target", "given", "words"),
    [
        ("arn:aws:scheduler:::aws-sdk:batch:updateJobQueue", {"JobQueue": "q"}, "updateJobQueue"),
        (TARGET, {"ComputeEnvironment": "env", "ServiceRole": "other"}, "ServiceRole in arn:aws"),
    ],
)
def test_other_calls_are_not_emulated(
    scheduled: Scheduled, target: str, given: dict[str, str], words: str
) -> None:
    with refused("SandboxNotImplemented", words):
        scheduled.schedule(target, **given)

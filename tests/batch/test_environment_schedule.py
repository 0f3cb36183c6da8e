"""The schedules that open and close a compute environment."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.batch import efa_environment
from tests.support.cloud import Cloud
from tests.support.pools import BLOCK
from trainyard.components.batch.compute_environment import (
    BatchComputeEnvironment,
    BatchComputeEnvironmentArgs,
    update_policy,
)
from trainyard.components.capacity.plan import SchedulePlan

SCHEDULE = "aws:scheduler/schedule:Schedule"
STARTS = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
CLOSES = STARTS + timedelta(days=7, minutes=-40)
SCHEDULED = SchedulePlan(
    state="scheduled",
    minimum=0,
    desired=0,
    maximum=2,
    scale_up_at=STARTS,
    scale_down_at=CLOSES,
    ends_at=CLOSES + timedelta(minutes=40),
)
ACTIVE = replace(SCHEDULED, state="active", scale_up_at=None)
ENDING = replace(ACTIVE, state="ending", scale_down_at=None)
ENVIRONMENT = "arn:aws:batch:us-west-2:123456789012:compute-environment/batch-nodes-20261121"
Deployed = Callable[..., Cloud]


@pytest.fixture
def deployed(deploy: Callable[..., Cloud]) -> Deployed:
    """Deploy a compute environment in a Capacity Block with a schedule."""

    def run(schedule: SchedulePlan, region: str = "us-west-2") -> Cloud:
        plan = efa_environment("p5", "p5.48xlarge", capacity=BLOCK, schedule=schedule)
        args = BatchComputeEnvironmentArgs(
            plan=plan,
            region=region,
            subnet_ids=["subnet-1"],
            security_group_id="sg-nodes",
            reservation_group_arn=None,
            launch_after=[],
            tags={"team": "vision"},
        )
        return deploy(lambda: BatchComputeEnvironment("batch-nodes", args))

    return run


def call(cloud: Cloud, name: str) -> tuple[str, Any]:
    made = cloud.one(f"batch-nodes-{name}").inputs
    return made["scheduleExpression"], json.loads(made["target"]["input"])


@pytest.mark.parametrize(
    ("schedule", "state", "names"),
    [
        pytest.param(SCHEDULED, "DISABLED", ["opens", "closes"], id="scheduled"),
        pytest.param(replace(SCHEDULED, scale_down_at=None), "DISABLED", ["opens"], id="no-end"),
        pytest.param(ACTIVE, "ENABLED", ["closes"], id="active"),
        pytest.param(ENDING, "DISABLED", [], id="ending"),
    ],
)
def test_the_state_is_that_of_now_and_only_the_changes_to_come_are_scheduled(
    deployed: Deployed, schedule: SchedulePlan, state: str, names: list[str]
) -> None:
    """D9."""
    cloud = deployed(schedule)
    assert cloud.one("batch-nodes-environment").inputs["state"] == state
    made = {each.name for each in cloud.of_type(SCHEDULE)}
    assert made == {f"batch-nodes-{name}" for name in names}
    roles = [each for each in cloud.of_type("aws:iam/role:Role") if "scheduler" in each.name]
    assert len(roles) == bool(names)


def test_scheduler_updates_the_environment_with_the_request_of_the_sdk(deployed: Deployed) -> None:
    cloud = deployed(SCHEDULED)
    request = {"ComputeEnvironment": ENVIRONMENT}
    assert call(cloud, "opens") == ("at(2026-12-01T11:30:00)", {**request, "State": "ENABLED"})
    assert call(cloud, "closes") == ("at(2026-12-08T10:50:00)", {**request, "State": "DISABLED"})
    target = cloud.one("batch-nodes-closes").inputs["target"]
    assert target["arn"] == "arn:aws:scheduler:::aws-sdk:batch:updateComputeEnvironment"


def test_the_target_is_in_the_partition_of_the_region(deployed: Deployed) -> None:
    target = deployed(ACTIVE, "us-gov-west-1").one("batch-nodes-closes").inputs["target"]
    assert target["arn"].startswith("arn:aws-us-gov:scheduler:::aws-sdk:batch:")


def test_a_call_to_close_that_fails_is_not_repeated_in_the_next_block(deployed: Deployed) -> None:
    cloud = deployed(SCHEDULED)
    retries = cloud.one("batch-nodes-closes").inputs["target"]["retryPolicy"]
    assert retries == {"maximumEventAgeInSeconds": 40 * 60}
    assert "retryPolicy" not in cloud.one("batch-nodes-opens").inputs["target"]


def test_the_role_may_only_update_this_environment(deployed: Deployed) -> None:
    (policy,) = (
        each
        for each in deployed(ACTIVE).of_type("aws:iam/rolePolicy:RolePolicy")
        if "scheduler" in each.name
    )
    assert policy.inputs["policy"] == update_policy(ENVIRONMENT)
    (statement,) = json.loads(update_policy(ENVIRONMENT))["Statement"]
    assert statement == {
        "Effect": "Allow",
        "Action": "batch:UpdateComputeEnvironment",
        "Resource": ENVIRONMENT,
    }

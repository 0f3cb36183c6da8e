"""The opening and closing of a compute environment in a Capacity Block.

A disabled compute environment starts no jobs and no nodes; jobs that are starting or running
continue. A disabled job queue would instead refuse new jobs, and start those that it has.

Sources:
    https://docs.aws.amazon.com/batch/latest/APIReference/API_UpdateComputeEnvironment.html
    https://docs.aws.amazon.com/batch/latest/APIReference/API_UpdateJobQueue.html
    https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html
    https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsbatch.html
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import pulumi

from trainyard.components.capacity.plan import SchedulePlan
from trainyard.components.identity.one_time_calls import (
    OneTimeCall,
    OneTimeCallsArgs,
    schedule_calls,
)
from trainyard.components.naming import partition


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentScheduleArgs:
    """Arguments of `schedule_environment`."""

    environment_arn: pulumi.Output[str]
    schedule: SchedulePlan
    region: str
    tags: Mapping[str, str]


def schedule_environment(
    name: str, args: EnvironmentScheduleArgs, options: pulumi.ResourceOptions
) -> None:
    """Register the calls that enable and disable a compute environment at the planned times.

    The calls are `opens` and `closes` of `schedule_calls`, if planned.
    """
    calls = OneTimeCallsArgs(
        calls=list(_calls(args)),
        subject_arn=args.environment_arn,
        role_description="Opens and closes a compute environment in a Capacity Block",
        policy=args.environment_arn.apply(update_policy),
        tags=args.tags,
    )
    schedule_calls(name, calls, options)


def update_policy(environment_arn: str) -> str:
    """Return the policy of the role: update one compute environment."""
    statement = {
        "Effect": "Allow",
        "Action": "batch:UpdateComputeEnvironment",
        "Resource": environment_arn,
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]}, sort_keys=True)


def _calls(args: EnvironmentScheduleArgs) -> Iterator[OneTimeCall]:
    target = f"arn:{partition(args.region)}:scheduler:::aws-sdk:batch:updateComputeEnvironment"
    closes_at, ends_at = args.schedule.scale_down_at, args.schedule.ends_at
    for name, at, state, retried_for in (
        ("opens", args.schedule.scale_up_at, "ENABLED", None),
        # A later call could close it in the next block.
        ("closes", closes_at, "DISABLED", ends_at - closes_at if ends_at and closes_at else None),
    ):
        if at is not None:
            yield OneTimeCall(
                name=name,
                at=at,
                target_arn=target,
                input=args.environment_arn.apply(partial(_request, state=state)),
                retried_for=retried_for,
            )


def _request(environment_arn: str, *, state: str) -> str:
    # Keys are those of the AWS SDK in PascalCase; Scheduler refuses `computeEnvironment`, the name
    # in the request of Batch.
    # https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.aws_scheduler_targets.Universal.html
    return json.dumps({"ComputeEnvironment": environment_arn, "State": state}, sort_keys=True)

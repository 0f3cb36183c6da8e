"""Calls that EventBridge Scheduler makes once for a stack, with a role of their own.

Sources:
    https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
    https://docs.aws.amazon.com/scheduler/latest/UserGuide/cross-service-confused-deputy-prevention.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import pulumi
import pulumi_aws as aws

from trainyard.components.identity.node_role import once_made
from trainyard.components.identity.trust import service_trust
from trainyard.components.naming import IAM_ROLE_NAME_LIMIT, SCHEDULE_NAME_LIMIT, fitted


@dataclass(frozen=True, slots=True, kw_only=True)
class OneTimeCall:
    """One call of a target."""

    name: str
    """Unique in the component, such as `block-ends-in-24-hours`."""
    at: datetime
    """UTC."""
    target_arn: pulumi.Input[str]
    """Templated or universal target."""
    input: pulumi.Input[str]
    """What the target receives."""
    retried_for: timedelta | None = None
    """How long Scheduler repeats a call that fails, from a minute to a day; None for a day.
    https://docs.aws.amazon.com/scheduler/latest/APIReference/API_RetryPolicy.html"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneTimeCallsArgs:
    """Arguments of `schedule_calls`."""

    calls: Sequence[OneTimeCall]
    subject_arn: pulumi.Input[str]
    """What the calls change, in the account of the stack."""
    role_description: str
    policy: pulumi.Input[str]
    """Policy of the role: what the calls may do."""
    tags: Mapping[str, str]


def schedule_calls(name: str, args: OneTimeCallsArgs, options: pulumi.ResourceOptions) -> None:
    """Register a schedule for each call, and the role that makes them.

    The role is `<name>-scheduler` (`aws.iam.Role`, `aws.iam.RolePolicy`); schedules are
    `<name>-<call>` (`aws.scheduler.Schedule`). Scheduler always assumes a role.
    """
    role = aws.iam.Role(
        fitted(f"{name}-scheduler", IAM_ROLE_NAME_LIMIT),
        description=args.role_description,
        assume_role_policy=pulumi.Output.from_input(args.subject_arn).apply(scheduler_trust),
        tags=dict(args.tags),
        opts=options,
    )
    policy = aws.iam.RolePolicy(
        f"{name}-scheduler", role=role.name, policy=args.policy, opts=options
    )
    role_arn = once_made(role.arn, [policy])
    for call in args.calls:
        aws.scheduler.Schedule(
            fitted(f"{name}-{call.name}", SCHEDULE_NAME_LIMIT),
            schedule_expression=f"at({call.at:%Y-%m-%dT%H:%M:%S})",
            schedule_expression_timezone="UTC",
            flexible_time_window=aws.scheduler.ScheduleFlexibleTimeWindowArgs(mode="OFF"),
            target=aws.scheduler.ScheduleTargetArgs(
                arn=call.target_arn,
                role_arn=role_arn,
                input=call.input,
                retry_policy=_retry_policy(call.retried_for),
            ),
            opts=options,
        )


def scheduler_trust(subject_arn: str) -> str:
    """Return the trust policy of the role: only schedules of the ARN's account may assume it."""
    return service_trust("scheduler.amazonaws.com", subject_arn.split(":")[4])


def _retry_policy(
    retried_for: timedelta | None,
) -> aws.scheduler.ScheduleTargetRetryPolicyArgs | None:
    if retried_for is None:
        return None
    return aws.scheduler.ScheduleTargetRetryPolicyArgs(
        maximum_event_age_in_seconds=int(retried_for.total_seconds())
    )

"""One-time schedules that send messages to the topic of a stack.

Sources:
    https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
    https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-templated.html
    https://docs.aws.amazon.com/scheduler/latest/UserGuide/cross-service-confused-deputy-prevention.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi
import pulumi_aws as aws

from components.identity.attached_policies import once_made
from components.monitoring.plan import MessagePlan
from components.naming import IAM_ROLE_NAME_LIMIT, SCHEDULE_NAME_LIMIT, dns_suffix, fitted


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesArgs:
    """Arguments of `schedule_messages`."""

    messages: Sequence[MessagePlan]
    topic_arn: pulumi.Input[str]
    region: str
    tags: Mapping[str, str]


def schedule_messages(name: str, args: MessagesArgs, options: pulumi.ResourceOptions) -> None:
    """Register a schedule for each message, and the role that sends them.

    The role is `<name>-scheduler` (`aws.iam.Role`, `aws.iam.RolePolicy`); schedules are
    `<name>-<message>` (`aws.scheduler.Schedule`). EventBridge Scheduler always assumes a role; the
    access policy of the topic does not have to name it, because both are in the same account.
    """
    topic = pulumi.Output.from_input(args.topic_arn)
    role = aws.iam.Role(
        fitted(f"{name}-scheduler", IAM_ROLE_NAME_LIMIT),
        description="Sends warnings of the end of Capacity Blocks",
        assume_role_policy=topic.apply(scheduler_trust),
        tags=dict(args.tags),
        opts=options,
    )
    policy = aws.iam.RolePolicy(
        f"{name}-scheduler",
        role=role.name,
        policy=topic.apply(lambda arn: publish_policy(arn, args.region)),
        opts=options,
    )
    role_arn = once_made(role.arn, [policy])
    for message in args.messages:
        aws.scheduler.Schedule(
            fitted(f"{name}-{message.name}", SCHEDULE_NAME_LIMIT),
            schedule_expression=f"at({message.at:%Y-%m-%dT%H:%M:%S})",
            schedule_expression_timezone="UTC",
            flexible_time_window=aws.scheduler.ScheduleFlexibleTimeWindowArgs(mode="OFF"),
            target=aws.scheduler.ScheduleTargetArgs(
                arn=args.topic_arn, role_arn=role_arn, input=message.text
            ),
            opts=options,
        )


def scheduler_trust(topic_arn: str) -> str:
    """Return the trust policy of the role: only schedules of the topic's account may assume it."""
    statement = {
        "Effect": "Allow",
        "Action": "sts:AssumeRole",
        "Principal": {"Service": "scheduler.amazonaws.com"},
        "Condition": {"StringEquals": {"aws:SourceAccount": topic_arn.split(":")[4]}},
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]}, sort_keys=True)


def publish_policy(topic_arn: str, region: str) -> str:
    """Return the policy of the role: publish to the topic, also if a key encrypts it.

    Source:
        https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html, permissions of
        publishers to an encrypted topic
    """
    through = {"StringEquals": {"kms:ViaService": f"sns.{region}.{dns_suffix(region)}"}}
    statements = [
        {"Effect": "Allow", "Action": "sns:Publish", "Resource": topic_arn},
        {
            "Effect": "Allow",
            "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
            "Resource": "*",
            "Condition": through,
        },
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, sort_keys=True)

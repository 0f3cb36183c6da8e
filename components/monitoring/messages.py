"""One-time schedules that send messages to the topic of a stack.

Source: https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-templated.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pulumi

from components.identity.one_time_calls import OneTimeCall, OneTimeCallsArgs, schedule_calls
from components.monitoring.plan import MessagePlan
from components.naming import dns_suffix


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesArgs:
    """Arguments of `schedule_messages`."""

    messages: Sequence[MessagePlan]
    topic_arn: pulumi.Input[str]
    region: str
    tags: Mapping[str, str]


def schedule_messages(name: str, args: MessagesArgs, options: pulumi.ResourceOptions) -> None:
    """Register the schedule of each message, named after it, and the role that sends them.

    The access policy of the topic does not have to name the role, because both are in the same
    account.
    """
    topic = pulumi.Output.from_input(args.topic_arn)
    calls = OneTimeCallsArgs(
        calls=[
            OneTimeCall(
                name=message.name, at=message.at, target_arn=args.topic_arn, input=message.text
            )
            for message in args.messages
        ],
        subject_arn=args.topic_arn,
        role_description="Sends warnings of the end of Capacity Blocks",
        policy=topic.apply(lambda arn: publish_policy(arn, args.region)),
        tags=args.tags,
    )
    schedule_calls(name, calls, options)


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

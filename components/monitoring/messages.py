"""One-time schedules that send messages to the topic of a stack.

Source: https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-templated.html
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from trainyard.components.identity.one_time_calls import (
    OneTimeCall,
    OneTimeCallsArgs,
    schedule_calls,
)
from trainyard.components.monitoring.plan import MessagePlan
from trainyard.components.naming import dns_suffix, partition


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesArgs:
    """Arguments of `schedule_messages`."""

    messages: Sequence[MessagePlan]
    topic_arn: pulumi.Input[str]
    is_own_topic: bool
    """Whether the stack creates the topic, which has no key."""
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
        policy=topic.apply(
            lambda arn: publish_policy(arn, args.region, is_own_topic=args.is_own_topic)
        ),
        tags=args.tags,
    )
    schedule_calls(name, calls, options)


def publish_policy(topic_arn: str, region: str, *, is_own_topic: bool) -> str:
    """Return the policy of the role: publish to the topic, also if a key encrypts it.

    The stack does not encrypt its own topic. The key of an existing one is not in the stack file,
    and can belong to another account, so the statement is bound to what the key encrypts: SNS names
    the topic in the encryption context of each call.

    Sources:
        https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html, permissions of
        publishers to an encrypted topic
        https://docs.aws.amazon.com/gamelift/latest/flexmatchguide/queue-notification-sns-sse.html:
        the encryption context
    """
    statements: list[dict[str, Any]] = [
        {"Effect": "Allow", "Action": "sns:Publish", "Resource": topic_arn}
    ]
    if not is_own_topic:
        conditions = {
            "kms:ViaService": f"sns.{region}.{dns_suffix(region)}",
            "kms:EncryptionContext:aws:sns:topicArn": topic_arn,
        }
        statements.append(
            {
                "Effect": "Allow",
                "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
                "Resource": f"arn:{partition(region)}:kms:{region}:*:key/*",
                "Condition": {"StringEquals": conditions},
            }
        )
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, sort_keys=True)

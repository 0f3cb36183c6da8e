"""The topic that receives the messages of a stack's alarms."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import pulumi
import pulumi_aws as aws

from trainyard.components.monitoring.plan import AlarmsPlan


def topic_of(
    name: str, alarms: AlarmsPlan, tags: Mapping[str, str], options: pulumi.ResourceOptions
) -> pulumi.Input[str]:
    """Return the ARN of the topic, and register a new one unless the plan has an existing one.

    Resources: `<name>-topic` (`aws.sns.Topic`), `<name>-topic-policy` (`aws.sns.TopicPolicy`) and
    `<name>-<address>` (`aws.sns.TopicSubscription`).
    """
    if alarms.topic_arn is not None:
        return alarms.topic_arn
    topic = aws.sns.Topic(f"{name}-topic", tags=dict(tags), opts=options)
    workspace = alarms.rules.workspace_arn if alarms.rules else None
    aws.sns.TopicPolicy(
        f"{name}-topic-policy",
        arn=topic.arn,
        policy=topic.arn.apply(partial(topic_policy, workspace_arn=workspace)),
        opts=options,
    )
    for address in alarms.emails:
        aws.sns.TopicSubscription(
            f"{name}-{address}",
            topic=topic.arn,
            protocol="email",
            endpoint=address,
            opts=options,
        )
    return topic.arn


def topic_policy(topic_arn: str, workspace_arn: str | None = None) -> str:
    """Return the access policy of a topic for alarms and event rules of its account.

    Args:
        topic_arn: The topic.
        workspace_arn: Workspace of Prometheus whose alert manager may send to it.

    Sources:
        https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Notify_Users_Alarm_Changes.html
        https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-use-resource-based.html, whose
            statement for topics has no condition.
        https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-alertmanager-receiver-AMPpermission.html
    """
    account = topic_arn.split(":")[4]
    statements: list[dict[str, Any]] = [
        {
            "Sid": "Alarms",
            "Effect": "Allow",
            "Principal": {"Service": "cloudwatch.amazonaws.com"},
            "Action": "sns:Publish",
            "Resource": topic_arn,
            "Condition": {"StringEquals": {"aws:SourceAccount": account}},
        },
        {
            "Sid": "Events",
            "Effect": "Allow",
            "Principal": {"Service": "events.amazonaws.com"},
            "Action": "sns:Publish",
            "Resource": topic_arn,
        },
    ]
    if workspace_arn:
        statements.append(
            {
                "Sid": "Alerts",
                "Effect": "Allow",
                "Principal": {"Service": "aps.amazonaws.com"},
                "Action": ["sns:Publish", "sns:GetTopicAttributes"],
                "Resource": topic_arn,
                "Condition": {
                    "ArnEquals": {"aws:SourceArn": workspace_arn},
                    "StringEquals": {"aws:SourceAccount": account},
                },
            }
        )
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, sort_keys=True)

"""Complete reasons of a failed Slurm cluster, from the events of its CloudFormation stack.

The custom resource passes on at most 256 characters of a reason, and the cluster's own stack is
deleted after a failed creation. Its events can be read by its id for 90 days.

Source:
    https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStackEvents.html
    https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ListStacks.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/troubleshooting-fc-v3-create-cluster.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

_FAILED = ("CREATE_FAILED", "UPDATE_FAILED")
_CONSEQUENCES = ("Resource creation cancelled", "Resource update cancelled")
"""Reasons of resources that only ended because another one had failed."""
_STACK = "AWS::CloudFormation::Stack"
_RECENT = timedelta(hours=2)
"""Age of the events of one operation: a custom resource has an hour, and the rollback follows.
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-customresource.html"""


def failed_resources(cloudformation: Any, cluster: str, *, now: datetime) -> list[str]:
    """Return the resources of a cluster that failed in its last operation, with their reasons.

    Args:
        cloudformation: A boto3 client.
        cluster: Name of the cluster, and of its stack.
        now: Current time, timezone-aware.

    Raises:
        ClientError, BotoCoreError: CloudFormation refused a request or did not respond.
    """
    pages = cloudformation.get_paginator("list_stacks").paginate()
    stacks = [
        each for page in pages for each in page["StackSummaries"] if each["StackName"] == cluster
    ]
    if not stacks:
        return []
    newest = max(stacks, key=lambda each: each["CreationTime"])["StackId"]
    return [*_failed(cloudformation, newest, since=now - _RECENT)]


def _failed(cloudformation: Any, stack_id: str, *, since: datetime) -> Iterator[str]:
    pages = cloudformation.get_paginator("describe_stack_events").paginate(StackName=stack_id)
    events = [event for page in pages for event in page["StackEvents"]]
    for event in reversed(events):
        reason = event.get("ResourceStatusReason", "")
        if event["ResourceStatus"] not in _FAILED or event["Timestamp"] < since:
            continue
        if _is_of_stack(event, stack_id) or reason.startswith(_CONSEQUENCES):
            continue
        if event["ResourceType"] == _STACK and event.get("PhysicalResourceId"):
            yield from _failed(cloudformation, event["PhysicalResourceId"], since=since)
        else:
            yield f"{event['LogicalResourceId']} ({event['ResourceType']}): {reason}"


def _is_of_stack(event: Mapping[str, Any], stack_id: str) -> bool:
    """Whether the event is about the stack as a whole, whose reason only lists resources."""
    return event.get("PhysicalResourceId") == stack_id

"""The reasons of a failed Slurm cluster are complete, also if its stack is deleted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import boto3
from botocore.stub import Stubber

from trainyard.diagnosis.bundle import failed_resources

NOW = datetime(2026, 11, 24, 2, tzinfo=UTC)
ARN = "arn:aws:cloudformation:us-west-2:123456789012:stack/"
OLD, NEW, QUEUES = f"{ARN}pc-gpu/1", f"{ARN}pc-gpu/2", f"{ARN}pc-gpu-Queues/3"
REASON = "WaitCondition received failed message: 'Failed to run chef recipe. " + "x" * 400 + "'"


def stack(identifier: str, *, name: str = "pc-gpu", hours: float) -> dict[str, Any]:
    return {
        "StackId": identifier,
        "StackName": name,
        "CreationTime": NOW - timedelta(hours=hours),
        "StackStatus": "DELETE_COMPLETE",
    }


def event(logical: str, status: str, reason: str = "", **changes: Any) -> dict[str, Any]:
    return {
        "StackId": NEW,
        "StackName": "pc-gpu",
        "EventId": logical + status,
        "LogicalResourceId": logical,
        "ResourceType": "AWS::CloudFormation::WaitCondition",
        "ResourceStatus": status,
        "ResourceStatusReason": reason,
        "Timestamp": NOW - timedelta(minutes=10),
        **changes,
    }


def failed(stacks: list[dict[str, Any]], events: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Return the answer for stacks, and for events of stacks in the order of the requests."""
    client = boto3.client(
        "cloudformation", region_name="us-west-2", aws_access_key_id="x", aws_secret_access_key="x"
    )
    with Stubber(client) as aws:
        aws.add_response("list_stacks", {"StackSummaries": stacks}, {})
        for identifier, listed in events.items():
            answer = {"StackEvents": listed}
            aws.add_response("describe_stack_events", answer, {"StackName": identifier})
        found = failed_resources(client, "pc-gpu", now=NOW)
        aws.assert_no_pending_responses()
    return found


def test_the_cause_is_complete_and_its_consequences_are_left_out() -> None:
    stacks = [stack(OLD, hours=90), stack(NEW, hours=1), stack("other", name="pc-gpu-x", hours=0)]
    newest_first = [
        event("pc-gpu", "CREATE_FAILED", "failed to create: [Wait]", PhysicalResourceId=NEW),
        event("HeadNode", "CREATE_FAILED", "Resource creation cancelled"),
        event("HeadNodeWaitCondition", "CREATE_FAILED", REASON),
        event("HeadNode", "CREATE_IN_PROGRESS"),
    ]
    assert failed(stacks, {NEW: newest_first}) == [
        f"HeadNodeWaitCondition (AWS::CloudFormation::WaitCondition): {REASON}"
    ]


def test_a_nested_stack_is_read_in_its_place() -> None:
    nested = {"ResourceType": "AWS::CloudFormation::Stack", "PhysicalResourceId": QUEUES}
    inner = event("Template", "UPDATE_FAILED", "no such AMI", ResourceType="AWS::EC2::Instance")
    events = {
        NEW: [event("Queues", "UPDATE_FAILED", "Embedded stack was not updated", **nested)],
        QUEUES: [inner],
    }
    assert failed([stack(NEW, hours=9)], events) == ["Template (AWS::EC2::Instance): no such AMI"]


def test_an_earlier_operation_explains_nothing() -> None:
    earlier = event("HeadNode", "CREATE_FAILED", "no", Timestamp=NOW - timedelta(hours=3))
    assert failed([stack(NEW, hours=4)], {NEW: [earlier]}) == []
    assert failed([], {}) == []

"""Warnings of the end of a Capacity Block, which users ask for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.cloud import Cloud
from tests.support.eks import changed
from tests.support.stack_files import plan_from
from tests.support.stacks import NOW, prepared, program_of
from trainyard.components.capacity.timeline import block_warnings
from trainyard.components.config.reservations import CapacityBlock
from trainyard.components.identity.one_time_calls import scheduler_trust
from trainyard.components.monitoring.plan import MessagePlan
from trainyard.components.monitoring.resources import publish_policy

BLOCK_STACKS = ("p5-cb", "batch-p5")
SCHEDULE = "aws:scheduler/schedule:Schedule"
TOPIC = "arn:aws:sns:us-west-2:123456789012:alarms"
ENDS = NOW + timedelta(days=5)


def changes(hours: list[int], **block: object) -> dict[str, Any]:
    times = {"starts_at": (NOW - timedelta(days=2)).isoformat(), "ends_at": ENDS.isoformat()}
    return {
        "monitoring": {"alarms": {"block_warning_hours": hours}},
        "reservations": {"block": {**times, **block}},
    }


def messages(stack: str, given: Mapping[str, Any]) -> tuple[MessagePlan, ...]:
    plan = prepared(stack, changes=given).plan.monitoring_plan
    assert plan is not None
    assert plan.alarms is not None
    return plan.alarms.messages


@pytest.mark.parametrize("stack", ["p5-cb", "p5-cb-managed", "batch-p5"])
def test_a_warning_is_sent_at_each_number_of_hours_before_the_end(stack: str) -> None:
    found = messages(stack, changes([2, 24]))
    assert [(each.name, ENDS - each.at) for each in found] == [
        ("block-ends-in-24-hours", timedelta(hours=24)),
        ("block-ends-in-2-hours", timedelta(hours=2)),
    ]
    first = found[0].text
    assert f"of stack {stack}) ends in 24 hours, at {ENDS:%Y-%m-%d %H:%M} UTC" in first
    assert "./trainyard capacity extend cr-0123456789abcdef0 --region us-west-2" in first
    assert ("drained" in first) == stack.startswith("p5-cb")


def test_the_warning_of_an_ultraserver_names_its_times() -> None:
    group = {"instance_type": "trn2u.48xlarge", "desired": 4, "maximum": 4}
    nodes = {f"architecture__node_groups__p5__{key}": value for key, value in group.items()}
    block = {"instance_count": 4, "ends_at": ENDS.isoformat()}
    times = {f"reservations__block__{key}": value for key, value in block.items()}
    alarms = {"monitoring__alarms": {"block_warning_hours": [24]}}
    made = plan_from(changed(**nodes, **times, **alarms))
    assert made.monitoring_plan is not None
    assert made.monitoring_plan.alarms is not None
    (found,) = made.monitoring_plan.alarms.messages
    assert "70 minutes before the end, the nodes are drained" in found.text
    assert "EC2 begins to terminate its instances 60 minutes before the end" in found.text


@pytest.mark.parametrize("stack", BLOCK_STACKS)
def test_no_warning_is_sent_unless_it_is_asked_for(stack: str) -> None:
    assert messages(stack, changes([])) == ()


def test_a_later_end_moves_the_warnings() -> None:
    earlier = (ENDS - timedelta(days=2)).isoformat()
    (first,) = messages("p5-cb", changes([24], ends_at=earlier))
    (moved,) = messages("p5-cb", changes([24]))
    assert (moved.name, moved.at - first.at) == (first.name, timedelta(days=2))


def test_warnings_whose_time_has_come_are_left_out() -> None:
    soon = (NOW + timedelta(hours=5)).isoformat()
    found = messages("p5-cb", changes([24, 2], ends_at=soon))
    assert [each.name for each in found] == ["block-ends-in-2-hours"]


def test_a_stack_without_a_block_is_told_that_it_gets_no_warning() -> None:
    given = {"monitoring": {"alarms": {"block_warning_hours": [24]}}}
    notes = prepared("eks-p4de-odcr", changes=given).plan.notes
    assert any("no node launches into a Capacity Block" in note for note in notes)
    assert messages("eks-p4de-odcr", given) == ()


def about_warnings(cloud: Cloud, type_: str) -> list[Any]:
    """Return what the topic's schedules need; the compute environments of Batch have their own."""
    return [each for each in cloud.of_type(type_) if "-monitoring-" in each.name]


@pytest.mark.parametrize("stack", BLOCK_STACKS)
def test_one_schedule_for_each_warning_sends_its_text_to_the_topic(
    deploy: Callable[..., Cloud], stack: str
) -> None:
    cloud = deploy(program_of(stack, changes=changes([24, 2])), stack=stack)
    (topic,) = cloud.of_type("aws:sns/topic:Topic")
    (policy,) = about_warnings(cloud, "aws:iam/rolePolicy:RolePolicy")
    schedules = about_warnings(cloud, SCHEDULE)
    assert len(schedules) == 2
    first = cloud.one(f"{stack}-monitoring-block-ends-in-24-hours").inputs
    at = ENDS - timedelta(hours=24)
    assert first["scheduleExpression"] == f"at({at:%Y-%m-%dT%H:%M:%S})"
    assert first["scheduleExpressionTimezone"] == "UTC"
    assert first["flexibleTimeWindow"] == {"mode": "OFF"}
    assert "ends in 24 hours" in first["target"]["input"]
    for each in schedules:
        assert {topic.urn, policy.urn} <= {*each.dependencies}


@pytest.mark.parametrize("stack", BLOCK_STACKS)
def test_without_warnings_there_is_no_role(deploy: Callable[..., Cloud], stack: str) -> None:
    cloud = deploy(program_of(stack, changes=changes([])), stack=stack)
    assert about_warnings(cloud, SCHEDULE) == []
    assert about_warnings(cloud, "aws:iam/role:Role") == []


def test_only_schedules_of_the_account_may_assume_the_role_and_it_may_only_publish() -> None:
    (trust,) = json.loads(scheduler_trust(TOPIC))["Statement"]
    assert trust["Principal"] == {"Service": "scheduler.amazonaws.com"}
    assert trust["Condition"] == {"StringEquals": {"aws:SourceAccount": "123456789012"}}
    (publishes,) = json.loads(publish_policy(TOPIC, "us-west-2", is_own_topic=True))["Statement"]
    assert (publishes["Action"], publishes["Resource"]) == ("sns:Publish", TOPIC)


def test_keys_encrypt_only_messages_of_the_existing_topic() -> None:
    """The encryption context of SNS: https://docs.aws.amazon.com/gamelift/latest/flexmatchguide/queue-notification-sns-sse.html."""
    _, encrypts = json.loads(publish_policy(TOPIC, "us-west-2", is_own_topic=False))["Statement"]
    assert encrypts["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]
    assert encrypts["Resource"] == "arn:aws:kms:us-west-2:*:key/*"
    assert encrypts["Condition"]["StringEquals"] == {
        "kms:ViaService": "sns.us-west-2.amazonaws.com",
        "kms:EncryptionContext:aws:sns:topicArn": TOPIC,
    }


@pytest.mark.parametrize("stack", BLOCK_STACKS)
def test_the_role_uses_a_key_only_for_a_topic_that_somebody_else_made(
    deploy: Callable[..., Cloud], stack: str
) -> None:
    given = changes([24])
    own = deploy(program_of(stack, changes=given), stack=stack)
    given["monitoring"]["alarms"]["topic_arn"] = TOPIC
    other = deploy(program_of(stack, changes=given), stack=stack)
    for cloud, uses_keys in ((own, False), (other, True)):
        (policy,) = about_warnings(cloud, "aws:iam/rolePolicy:RolePolicy")
        assert ("kms:" in policy.inputs["policy"]) is uses_keys


def test_an_end_without_a_start_is_enough() -> None:
    block = CapacityBlock(
        kind="capacity-block",
        reservation_id="cr-0123456789abcdef0",
        ends_at=datetime(2026, 12, 7, 12, tzinfo=UTC),
    )
    assert [each.at.hour for each in block_warnings(block, [2, 2, 1])] == [10, 11]

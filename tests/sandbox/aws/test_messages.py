"""Messages about Capacity Blocks: events of EC2, and one-time schedules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.sandbox_aws import SCHEDULED, Account, refused
from trainyard.components.identity.one_time_calls import scheduler_trust
from trainyard.components.monitoring.resources import publish_policy, topic_policy
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.server import AwsServer
from trainyard.sandbox.aws.timekeeper import Timekeeper

PATTERN = {
    "source": ["aws.ec2"],
    "detail-type": [{"prefix": "Capacity Block"}],
    "detail": {"capacity-reservation-id": [SCHEDULED]},
}


A_SECOND = timedelta(seconds=1)
"""EC2 reports times in whole seconds."""


@dataclass
class Reader:
    """A topic with a queue that receives its messages."""

    account: Account
    topic: str
    queue: str
    role: str
    keeper: Timekeeper

    def schedule(self, name: str, at: datetime, text: str, **changes: Any) -> dict[str, Any]:
        return {
            "Name": name,
            "ScheduleExpression": f"at({at:%Y-%m-%dT%H:%M:%S})",
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "Target": {"Arn": self.topic, "RoleArn": self.role, "Input": text},
            **changes,
        }

    def after(self, passed: timedelta) -> list[str]:
        """Advance the clock; return the texts of the messages that arrived."""
        CLOCK.advance(passed)
        self.keeper.tick()
        sqs, texts = self.account.client("sqs"), []
        while found := sqs.receive_message(QueueUrl=self.queue).get("Messages"):
            for each in found:
                sqs.delete_message(QueueUrl=self.queue, ReceiptHandle=each["ReceiptHandle"])
                texts.append(json.loads(each["Body"])["Message"])
        return texts


@pytest.fixture
def reader() -> Iterator[Reader]:
    with AwsServer(keep_time=False) as server:
        account = Account(server)
        sns, sqs, iam = (account.client(each) for each in ("sns", "sqs", "iam"))
        topic = sns.create_topic(Name="alarms")["TopicArn"]
        sns.set_topic_attributes(
            TopicArn=topic, AttributeName="Policy", AttributeValue=topic_policy(topic)
        )
        queue = sqs.create_queue(QueueName="alarms")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])
        sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn["Attributes"]["QueueArn"])
        role = iam.create_role(
            RoleName="warnings", AssumeRolePolicyDocument=scheduler_trust(topic)
        )["Role"]["Arn"]
        iam.put_role_policy(
            RoleName="warnings",
            PolicyName="publish",
            PolicyDocument=publish_policy(topic, "us-west-2", is_own_topic=True),
        )
        keeper = Timekeeper(server.application.lock, "us-west-2")
        keeper.tick()
        yield Reader(account, topic, queue, role, keeper)


def follow_blocks(reader: Reader) -> None:
    events = reader.account.client("events")
    events.put_rule(Name="blocks", EventPattern=json.dumps(PATTERN))
    events.put_targets(Rule="blocks", Targets=[{"Id": "topic", "Arn": reader.topic}])


def test_the_topic_receives_the_start_of_a_block_and_the_warning_of_its_end(reader: Reader) -> None:
    follow_blocks(reader)
    block = reader.account.reservation(SCHEDULED)
    assert reader.after(timedelta(0)) == []
    (start,) = map(json.loads, reader.after(block["StartDate"] - CLOCK.now() + A_SECOND))
    assert start["detail-type"] == "Capacity Block Reservation Delivered"
    assert start["resources"] == [block["CapacityReservationArn"]]
    assert start["detail"] == {
        "capacity-reservation-id": SCHEDULED,
        "end-date": f"{block['EndDate']:%Y-%m-%dT%H:%M:%SZ}",
    }
    left = block["EndDate"] - CLOCK.now()
    assert reader.after(left - timedelta(minutes=41)) == []
    (warning,) = map(json.loads, reader.after(timedelta(minutes=2)))
    assert warning["detail-type"] == "Capacity Block Reservation Expiration Warning"
    assert reader.after(timedelta(hours=1)) == []


def test_a_topic_whose_policy_does_not_name_eventbridge_receives_nothing(reader: Reader) -> None:
    follow_blocks(reader)
    closed = json.dumps({"Version": "2012-10-17", "Statement": []})
    reader.account.client("sns").set_topic_attributes(
        TopicArn=reader.topic, AttributeName="Policy", AttributeValue=closed
    )
    assert reader.after(timedelta(days=3)) == []


def test_a_schedule_sends_its_text_once_and_again_after_it_is_moved(reader: Reader) -> None:
    scheduler, now = reader.account.client("scheduler"), CLOCK.now()
    first = reader.schedule("ends", now + timedelta(hours=2), "ends in 24 hours")
    scheduler.create_schedule(**first)
    assert reader.after(timedelta(hours=1)) == []
    assert reader.after(timedelta(hours=2)) == ["ends in 24 hours"]
    assert reader.after(timedelta(hours=2)) == []
    moved = reader.schedule("ends", now + timedelta(hours=9), "ends in 24 hours")
    scheduler.update_schedule(**moved)
    assert reader.after(timedelta(hours=5)) == ["ends in 24 hours"]


def test_a_schedule_of_the_past_and_a_deleted_one_send_nothing(reader: Reader) -> None:
    scheduler, now = reader.account.client("scheduler"), CLOCK.now()
    scheduler.create_schedule(**reader.schedule("past", now - timedelta(hours=1), "late"))
    scheduler.create_schedule(**reader.schedule("gone", now + timedelta(hours=1), "gone"))
    scheduler.delete_schedule(Name="gone")
    assert reader.after(timedelta(hours=2)) == []


def test_a_schedule_needs_a_role_that_scheduler_may_assume(reader: Reader) -> None:
    target = {"Arn": reader.topic, "RoleArn": reader.account.role("node"), "Input": "x"}
    wrong = reader.schedule("ends", CLOCK.now() + timedelta(hours=1), "x", Target=target)
    with refused("ValidationException", "must allow AWS EventBridge Scheduler to assume"):
        reader.account.client("scheduler").create_schedule(**wrong)

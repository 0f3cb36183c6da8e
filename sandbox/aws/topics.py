"""SNS topics that receive events of EventBridge and messages of Scheduler."""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from moto.sns.models import sns_backends

LOG = logging.getLogger("sandbox.sns")


def publish(sns: Any, topic_arn: str, message: str) -> None:
    """Publish a message; a topic that was deleted receives nothing."""
    topic = sns.topics.get(topic_arn)
    if topic is None:
        LOG.warning("%s does not exist; lost: %s", topic_arn, message)
    else:
        topic.publish(message)


def sending_to_topics(send_to_targets: Callable[..., None]) -> Callable[..., None]:
    """Return the delivery of a rule's events, which in moto does not know topics.

    EventBridge sends the event as JSON if the access policy of the topic lets it.
    https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-use-resource-based.html
    """

    def send(rule: Any, event: dict[str, Any], *transform: bool) -> None:
        topics = [each["Arn"] for each in rule.targets if ":sns:" in each["Arn"]]
        if rule.state == "ENABLED" and rule.event_pattern.matches_event(event):
            sns = sns_backends[rule.account_id][rule.region_name]
            for arn in topics:
                if _lets_eventbridge_publish(sns.topics.get(arn)):
                    publish(sns, arn, json.dumps(_as_sent(event)))
                else:
                    LOG.warning("%s does not let EventBridge publish", arn)
        others = copy.copy(rule)
        others.targets = [each for each in rule.targets if each["Arn"] not in topics]
        send_to_targets(others, event, *transform)

    return send


def _lets_eventbridge_publish(topic: Any) -> bool:
    statements = json.loads(topic.policy)["Statement"] if topic else []
    return any(
        each["Effect"] == "Allow"
        and "events.amazonaws.com" in json.dumps(each["Principal"])
        and "sns:publish" in json.dumps(each["Action"]).lower()
        for each in statements
    )


def _as_sent(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event with its time as text, and without a field of moto."""
    time = datetime.fromtimestamp(event["time"], UTC)
    sent = {key: value for key, value in event.items() if key != "ingestion-time"}
    return sent | {"time": f"{time:%Y-%m-%dT%H:%M:%SZ}"}

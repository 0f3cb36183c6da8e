"""The SNS topic that receives the alarms of a stack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.support.account import judged, refused
from tests.support.eks import changed
from trainyard.components.account.facts import AccountFacts
from trainyard.components.architectures.prepare import Examined
from trainyard.components.named.facts import TopicFacts

TOPIC = "arn:aws:sns:us-west-2:123456789012:ml-infra"
KEY = "monitoring.alarms.topic_arn"
OPEN = TopicFacts(publishers=frozenset({"cloudwatch.amazonaws.com", "events.amazonaws.com"}))


@pytest.fixture
def with_topic(facts: AccountFacts) -> Callable[[TopicFacts | None], Examined]:
    """Return what the checks say of a stack whose alarms use the topic."""

    def _with(found: TopicFacts | None) -> Examined:
        raw = changed(monitoring={"alarms": {"topic_arn": TOPIC}})
        return judged(raw, replace(facts, named={("sns-topic", TOPIC): found}))

    return _with


def warned(found: Examined) -> list[str]:
    return [warning for warning in found.warnings if TOPIC in warning]


def test_a_topic_that_both_services_may_use_is_accepted(
    with_topic: Callable[[TopicFacts | None], Examined],
) -> None:
    assert refused(with_topic(OPEN), "SNS topics") == {}
    assert warned(with_topic(OPEN)) == []


def test_a_topic_that_does_not_exist_is_refused(
    with_topic: Callable[[TopicFacts | None], Examined],
) -> None:
    assert "does not exist" in refused(with_topic(None), "SNS topics")[KEY].problem


def test_a_topic_to_which_eventbridge_may_not_publish_is_warned_of(
    with_topic: Callable[[TopicFacts | None], Examined],
) -> None:
    for others in (frozenset[str](), frozenset({"cloudwatch.amazonaws.com"})):
        (said,) = warned(with_topic(TopicFacts(publishers=others)))
        assert "`sns:Publish`" in said


@pytest.mark.parametrize(
    ("key", "works"),
    [
        ("alias/aws/sns", False),
        ("arn:aws:kms:us-west-2:123456789012:alias/aws/sns", False),
        ("alias/ml-infra", True),
    ],
)
def test_a_topic_whose_key_no_service_may_use_is_warned_of(
    with_topic: Callable[[TopicFacts | None], Examined], key: str, works: bool
) -> None:
    said = warned(with_topic(replace(OPEN, kms_key=key)))
    assert (said == []) == works
    assert all("kms:GenerateDataKey*" in each for each in said)

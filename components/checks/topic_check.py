"""Account checks of the SNS topic that receives the alarms of a stack.

Sources:
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Notify_Users_Alarm_Changes.html
    https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-use-resource-based.html
"""

from __future__ import annotations

from collections.abc import Iterator

from components.account.named_facts import TopicFacts
from components.checks.noun import NamedContext
from components.config.named import Named
from components.config.problems import ROOT, Problem

EVENTS = "events.amazonaws.com"


def topic_problems(
    use: Named, found: TopicFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield a problem if the topic does not exist: alarms would go off unnoticed."""
    del context
    if found is None:
        yield Problem(
            path=f"{ROOT}.{use.key}",
            found=use.name,
            problem="this SNS topic does not exist, so nobody would receive the alarms",
            remedy=(
                "copy the ARN of a topic (`aws sns list-topics`), or remove `topic_arn`: the stack "
                "then creates a topic"
            ),
        )


def topic_warnings(use: Named, found: TopicFacts | None, context: NamedContext) -> Iterator[str]:
    """Yield a warning if EventBridge may not publish to the topic."""
    del context
    if found is not None and EVENTS not in found.publishers:
        yield (
            f"{use.key}: {use.name}: its access policy does not allow {EVENTS} to publish; events "
            "such as the start and the end of a Capacity Block are lost. Allow `sns:Publish` to "
            "this service principal"
        )

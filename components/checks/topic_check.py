"""Account checks of the SNS topic that receives the alarms of a stack.

Sources:
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Notify_Users_Alarm_Changes.html
    https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-use-resource-based.html
    https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html: compatibility between event
        sources from AWS services and encrypted topics
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.named_facts import TopicFacts
from trainyard.components.checks.noun import NamedContext
from trainyard.components.config.named import Named
from trainyard.components.config.problems import ROOT, Problem

EVENTS = "events.amazonaws.com"
AWS_MANAGED_KEY = "alias/aws/sns"
"""Its policy does not let other services encrypt messages."""


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
    """Yield warnings if EventBridge may not publish to the topic, or no service can encrypt."""
    del context
    if found is None:
        return
    if (found.kms_key or "").endswith(AWS_MANAGED_KEY):
        yield (
            f"{use.key}: {use.name}: the key {AWS_MANAGED_KEY} encrypts its messages, and does not "
            "let CloudWatch and EventBridge use it: no message arrives. Encrypt the topic with a "
            "key of your own whose policy allows both `kms:GenerateDataKey*` and `kms:Decrypt`, or "
            "not at all"
        )
    if EVENTS not in found.publishers:
        yield (
            f"{use.key}: {use.name}: its access policy does not allow {EVENTS} to publish; events "
            "such as the start and the end of a Capacity Block are lost. Allow `sns:Publish` to "
            "this service principal"
        )

"""Node repair sets each threshold as a count or as a percentage, not both.

Why:
    EKS rejects a repair configuration that sets a threshold in both ways, when it creates the node
    group and after the control plane is ready.
Fix:
    Remove the count or the percentage.
Source:
    https://docs.aws.amazon.com/eks/latest/APIReference/API_NodeRepairConfig.html
    https://docs.aws.amazon.com/eks/latest/userguide/node-health.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.props import Facts
from trainyard.policies.resources.types import EKS_NODE_GROUP
from trainyard.policies.rule import Config, resource_rule

_PAIRS = (
    ("maxUnhealthyNodeThresholdCount", "maxUnhealthyNodeThresholdPercentage"),
    ("maxParallelNodesRepairedCount", "maxParallelNodesRepairedPercentage"),
)


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    for count, percentage in _PAIRS:
        if None not in (_given(facts, count), _given(facts, percentage)):
            yield (
                f"its node repair sets {count} and {percentage}, which EKS rejects; remove one of "
                "them"
            )


def _given(facts: Facts, name: str) -> object:
    return facts.get("nodeRepairConfig", name)


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.LOW,
    tags=["G7"],
    types=(EKS_NODE_GROUP,),
    check=_check,
)

"""The thresholds of node repair are given in one way each.

Why:
    EKS refuses a repair configuration with a threshold as a count and as a percentage. It says so
    when the node group is made, after the control plane has been waited for.
Fix:
    Leave the count or the percentage out.
Source:
    https://docs.aws.amazon.com/eks/latest/APIReference/API_NodeRepairConfig.html
    https://docs.aws.amazon.com/eks/latest/userguide/node-health.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.props import Facts
from policies.resources.types import EKS_NODE_GROUP
from policies.rule import Config, on_types

_PAIRS = (
    ("maxUnhealthyNodeThresholdCount", "maxUnhealthyNodeThresholdPercentage"),
    ("maxParallelNodesRepairedCount", "maxParallelNodesRepairedPercentage"),
)


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    for count, percentage in _PAIRS:
        if None not in (_given(facts, count), _given(facts, percentage)):
            yield (
                f"its node repair says {count} and {percentage}, which EKS refuses; leave one of "
                "them out"
            )


def _given(facts: Facts, name: str) -> object:
    return facts.get("nodeRepairConfig", name)


POLICY = ResourceValidationPolicy(
    name="eks-node-repair-thresholds",
    display_name="Thresholds of node repair are given in one way",
    description="Node repair has each threshold as a count or as a percentage, not both.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.LOW,
    tags=["kubernetes", "G7"],
    remediation_steps="Leave the count or the percentage out.",
    url="https://docs.aws.amazon.com/eks/latest/APIReference/API_NodeRepairConfig.html",
    validate=on_types(EKS_NODE_GROUP, check=_check),
)

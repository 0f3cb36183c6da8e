"""Node groups on reserved capacity end old nodes before they launch new ones.

Why:
    An update of a managed node group launches new nodes first. On a reservation or a Capacity
    Block that is full there is no room for them: the update fails with
    InsufficientInstanceCapacity after long waits, with the group half way.
Fix:
    Set `update_strategy` in `update_config` to `MINIMAL`.
Source:
    https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupUpdateConfig.html
    https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity, StackValidationPolicy

from policies.resources.launches import Launch, templates_of
from policies.resources.props import UNKNOWN
from policies.resources.stack import Stack
from policies.resources.types import EKS_NODE_GROUP, LAUNCH_TEMPLATE
from policies.rule import Config, on_stack


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for group in stack.of_type(EKS_NODE_GROUP):
        strategy = stack.facts_of(group.urn).get("updateConfig", "updateStrategy")
        if strategy not in ("MINIMAL", UNKNOWN) and _is_reserved(stack, group):
            yield (
                group.urn,
                (
                    "it launches into reserved capacity, and its updates launch new nodes before "
                    "they end old ones, for which a full reservation has no room; set "
                    "update_strategy in update_config to MINIMAL"
                ),
            )


def _is_reserved(stack: Stack, group: PolicyResource) -> bool:
    if stack.facts_of(group.urn).get("capacityType") == "CAPACITY_BLOCK":
        return True
    return any(
        Launch(LAUNCH_TEMPLATE, stack.facts_of(template.urn)).reservation is not None
        for template in templates_of(stack, group)
    )


POLICY = StackValidationPolicy(
    name="eks-update-strategy-reserved",
    display_name="Node groups on reserved capacity end nodes before they launch",
    description="Managed node groups on reserved capacity have the update strategy MINIMAL.",
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["kubernetes", "capacity", "G11"],
    remediation_steps="Set update_strategy to MINIMAL.",
    url="https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupUpdateConfig.html",
    validate=on_stack(_check),
)

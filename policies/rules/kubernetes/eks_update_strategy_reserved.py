"""Managed node groups on reserved capacity have the update strategy MINIMAL.

Why:
    By default, an update of a managed node group launches new nodes before it terminates old ones.
    A full reservation or Capacity Block has no room for them, so the update fails with
    InsufficientInstanceCapacity after a long wait and leaves the group partly updated.
Fix:
    Set `update_strategy` in `update_config` to `MINIMAL`.
Source:
    https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupUpdateConfig.html
    https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity

from trainyard.policies.resources.launches import Launch, templates_of
from trainyard.policies.resources.props import UNKNOWN
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import EKS_NODE_GROUP, LAUNCH_TEMPLATE
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for group in stack.of_type(EKS_NODE_GROUP):
        strategy = stack.facts_of(group.urn).get("updateConfig", "updateStrategy")
        if strategy not in ("MINIMAL", UNKNOWN) and _is_reserved(stack, group):
            yield (
                group.urn,
                (
                    "it launches into reserved capacity, and its updates launch new nodes before "
                    "they terminate old ones, so they fail in a full reservation; set "
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


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["capacity", "G11"],
    check=_check,
)

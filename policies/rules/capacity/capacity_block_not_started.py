"""No node is wanted of a Capacity Block before it starts.

Why:
    Until a block starts every launch into it fails. A managed node group that wants nodes becomes
    CREATE_FAILED, an Auto Scaling group tries again and again and `up` waits for it in vain, though
    nothing is wrong but the time.
Fix:
    Set the desired and minimum size to 0, and let a scheduled action at the start of the block give
    the group its size.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks.html
    https://docs.aws.amazon.com/autoscaling/ec2/userguide/launch-template-capacity-blocks.html
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.launches import CAPACITY_BLOCK
from policies.resources.node_groups import sizes_of
from policies.resources.reserved_nodes import (
    block_time,
    in_capacity_block,
    reserved_nodes,
    scheduled_sizes,
)
from policies.resources.stack import Stack
from policies.resources.types import AUTO_SCALING_GROUP, EKS_NODE_GROUP
from policies.rule import Config, on_stack


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    now = datetime.now(UTC)
    early: set[str] = set()
    for nodes in reserved_nodes(stack):
        start = block_time(stack, nodes, "startDate")
        if nodes.market == CAPACITY_BLOCK and nodes.wanted and start is not None and start > now:
            early.add(nodes.urn)
            yield nodes.urn, nodes.where + _message(nodes.wanted, start)
    for group in stack.of_type(AUTO_SCALING_GROUP, EKS_NODE_GROUP):
        if group.urn in early or not in_capacity_block(stack, group):
            continue
        wanted, _ = sizes_of(stack, group, None)
        for action in scheduled_sizes(stack, group):
            # An action that brings a group to the size that it has is that of a block's start.
            if wanted and action.desired == wanted and action.at is not None and action.at > now:
                yield group.urn, _message(wanted, action.at)
                break


def _message(wanted: int, start: datetime) -> str:
    return (
        f"it wants {wanted} nodes now, but its Capacity Block starts at "
        f"{start.astimezone(UTC):%Y-%m-%d %H:%M} UTC and nothing launches before; set the desired "
        "and minimum size to 0 until then"
    )


POLICY = StackValidationPolicy(
    name="capacity-block-not-started",
    display_name="No node before its Capacity Block starts",
    description="Nodes in a Capacity Block that has not started are wanted by nobody yet.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["capacity", "D8"],
    remediation_steps="Set the desired and minimum size to 0 until the block starts.",
    url="https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks.html",
    validate=on_stack(_check),
)

"""No nodes are requested from a Capacity Block before it starts.

Why:
    Launches into a Capacity Block fail until it starts. A managed node group that wants nodes
    becomes CREATE_FAILED. An Auto Scaling group keeps retrying, and `up` waits for nodes that
    cannot launch.
Fix:
    Set the desired and minimum size to 0, and add a scheduled action that sets the size when the
    block starts.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks.html
    https://docs.aws.amazon.com/autoscaling/ec2/userguide/launch-template-capacity-blocks.html
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from pulumi_policy import EnforcementLevel, Severity

from trainyard.components import clock
from trainyard.policies.resources.launches import CAPACITY_BLOCK
from trainyard.policies.resources.node_groups import sizes_of
from trainyard.policies.resources.reserved_nodes import (
    block_time,
    in_capacity_block,
    reserved_nodes,
    scheduled_sizes,
)
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import AUTO_SCALING_GROUP, EKS_NODE_GROUP
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    now = clock.now()
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
            # An action that sets the current size of the group marks the start of the block.
            if wanted and action.desired == wanted and action.at is not None and action.at > now:
                yield group.urn, _message(wanted, action.at)
                break


def _message(wanted: int, start: datetime) -> str:
    return (
        f"it requests {wanted} nodes now, but its Capacity Block starts at "
        f"{start.astimezone(UTC):%Y-%m-%d %H:%M} UTC, and launches fail until then; set the "
        "desired and minimum size to 0 until it starts"
    )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["D8"],
    check=_check,
)

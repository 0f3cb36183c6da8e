"""An Auto Scaling group in a Capacity Block scales in before the block ends.

Why:
    EC2 starts to terminate the instances of a block 30 minutes before it ends (60 minutes for
    UltraServers), without notice to the scheduler. EKS drains managed node groups 40 minutes before
    the end. It does not drain self-managed Auto Scaling groups, and jobs on them lose their work
    since the last checkpoint.
Fix:
    Add a scheduled action that sets the desired capacity to 0 at least 30 minutes before the end,
    60 minutes for UltraServers (in a stack file: `ends_at` of the reservation), and drain nodes
    that terminate.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import UTC, datetime

from pulumi_policy import EnforcementLevel, PolicyResource, Severity

from trainyard.components.catalog.capacity_blocks import (
    TERMINATED_BEFORE_END,
    ULTRASERVERS_TERMINATED_BEFORE_END,
)
from trainyard.policies.resources.reserved_nodes import (
    Nodes,
    block_time,
    in_capacity_block,
    reserved_nodes,
    scheduled_sizes,
)
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import AUTO_SCALING_GROUP
from trainyard.policies.rule import Config, stack_rule

ULTRASERVERS = ("p6e-gb200.", "p6e-gb300.", "trn2u.")


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    reserved = {nodes.urn: nodes for nodes in reserved_nodes(stack)}
    for group in stack.of_type(AUTO_SCALING_GROUP):
        if in_capacity_block(stack, group):
            fault = _fault(stack, group, reserved.get(group.urn))
            if fault:
                yield group.urn, fault


def _fault(stack: Stack, group: PolicyResource, nodes: Nodes | None) -> str | None:
    leaving = [size for size in scheduled_sizes(stack, group) if size.desired == 0]
    if not leaving:
        return (
            "it launches into a Capacity Block without a scheduled scale-in, so EC2 terminates its "
            "nodes while jobs run; add a scheduled action that sets the desired capacity to 0 "
            "before the end"
        )
    last = _latest(stack, nodes) if nodes is not None else None
    if last is None or any(size.at is None or size.at <= last for size in leaving):
        return None
    return (
        "its scheduled action runs after EC2 starts to terminate the nodes of the Capacity Block; "
        f"move it to {last.astimezone(UTC):%Y-%m-%d %H:%M} UTC or earlier"
    )


def _latest(stack: Stack, nodes: Nodes) -> datetime | None:
    """Return the latest time to scale in; None if the end of the block is unknown."""
    end = block_time(stack, nodes, "endDate")
    types = nodes.reserved(stack, "instanceType") or frozenset()
    return last_scale_in(end, types) if end else None


def last_scale_in(end: datetime, instance_types: Collection[str]) -> datetime:
    """Return when EC2 begins to terminate the instances of a block of these types."""
    ultra = any(each.startswith(ULTRASERVERS) for each in instance_types)
    return end - (ULTRASERVERS_TERMINATED_BEFORE_END if ultra else TERMINATED_BEFORE_END)


POLICY = stack_rule(
    __name__,
    __doc__,
    # Advisory: the jobs only lose their last minutes.
    level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["D9"],
    check=_check,
)

"""Self-managed nodes leave a Capacity Block before it ends.

Why:
    EC2 begins to terminate the instances of a block 30 minutes before its end (those of an
    UltraServer 60), without asking the scheduler. Managed node groups of EKS are scaled in by EKS
    40 minutes before it; of an Auto Scaling group nobody takes care, and the job loses what it did
    since its last checkpoint.
Fix:
    Add a scheduled action that sets the desired capacity to 0 at least 30 minutes before the end
    (in a stack file: `ends_at` of the reservation), and drain nodes that terminate.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from pulumi_policy import EnforcementLevel, PolicyResource, Severity, StackValidationPolicy

from policies.resources.reserved_nodes import (
    Nodes,
    block_time,
    in_capacity_block,
    reserved_nodes,
    scheduled_sizes,
)
from policies.resources.stack import Stack
from policies.resources.types import AUTO_SCALING_GROUP
from policies.rule import Config, on_stack

BEFORE_END = timedelta(minutes=30)
ULTRASERVER_BEFORE_END = timedelta(minutes=60)
ULTRASERVERS = ("p6e-gb200.", "p6e-gb300.")


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
            "it launches into a Capacity Block, at whose end EC2 terminates its nodes under the "
            "jobs; add a scheduled action that sets the desired capacity to 0 before the end"
        )
    last = _latest(stack, nodes) if nodes is not None else None
    if last is None or any(size.at is None or size.at <= last for size in leaving):
        return None
    return (
        "its scheduled action comes when EC2 terminates the nodes of the Capacity Block already; "
        f"move it to {last.astimezone(UTC):%Y-%m-%d %H:%M} UTC or earlier"
    )


def _latest(stack: Stack, nodes: Nodes) -> datetime | None:
    """Return when the last nodes must be leaving; None where the end is not known."""
    end = block_time(stack, nodes, "endDate")
    types = nodes.reserved(stack, "instanceType") or frozenset()
    ultra = any(each.startswith(ULTRASERVERS) for each in types)
    return end - (ULTRASERVER_BEFORE_END if ultra else BEFORE_END) if end else None


POLICY = StackValidationPolicy(
    name="capacity-block-scale-in",
    display_name="Nodes leave a Capacity Block before it ends",
    description="An Auto Scaling group in a Capacity Block is scaled in before the block ends.",
    # The capacity is used to the end without it; what is lost is the job's last minutes.
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["capacity", "D9"],
    remediation_steps="Add a scheduled action to 0 at least 30 minutes before the block ends.",
    url="https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks.html",
    validate=on_stack(_check),
)

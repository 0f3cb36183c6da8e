"""When a group of nodes is wanted: the times of its Capacity Block and of its scheduled actions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from pulumi_policy import PolicyResource

from policies.launch import CAPACITY_BLOCK
from policies.nodes import Nodes
from policies.props import UNKNOWN
from policies.resource_types import AUTO_SCALING_SCHEDULE
from policies.stack import Stack
from policies.templates import templates_of


@dataclass(frozen=True, slots=True)
class ScheduledSize:
    """What a scheduled action that does not recur does to a group."""

    at: datetime | None
    """When; None where that is not known, or where the action recurs."""
    desired: int
    """Nodes from then on."""


def in_capacity_block(stack: Stack, group: PolicyResource) -> bool:
    """Whether a launch template of a group has the market of a Capacity Block."""
    return any(
        stack.facts_of(template.urn).get("instanceMarketOptions", "marketType") == CAPACITY_BLOCK
        for template in templates_of(stack, group)
    )


def scheduled_sizes(stack: Stack, group: PolicyResource) -> Iterator[ScheduledSize]:
    """Yield the sizes that scheduled actions of the stack give a group of nodes."""
    for action in stack.of_type(AUTO_SCALING_SCHEDULE):
        if group.urn not in _groups(stack, action, group.resource_type):
            continue
        facts = stack.facts_of(action.urn)
        desired = facts.number("desiredCapacity")
        if desired is not UNKNOWN:
            once = facts.get("recurrence") in (None, "")
            # The provider's default is 0; -1 leaves the size as it is.
            yield ScheduledSize(_time(facts.get("startTime")) if once else None, int(desired or 0))


def _groups(stack: Stack, action: PolicyResource, type_: str) -> set[str]:
    name = "autoscalingGroupName"
    reference = stack.refers(action, name, to=type_)
    found = reference.resources if reference else ()
    # The name of a managed node group's own Auto Scaling group is none of the node group's.
    return {each.urn for each in (*found, *stack.dependencies(action, name, type_))}


def block_time(stack: Stack, nodes: Nodes, key: str) -> datetime | None:
    """Return when the Capacity Block of nodes starts (`startDate`) or ends (`endDate`).

    None where the block is not one of the stack, or has not been bought yet.
    """
    found = nodes.reserved(stack, key)
    times = [_time(each) for each in found or ()]
    return times[0] if len(times) == 1 else None


def _time(value: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment.replace(tzinfo=moment.tzinfo or UTC) if moment else None

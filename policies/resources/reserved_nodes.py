"""Groups of nodes that launch into a reservation of the same stack, and their schedules.

The instance type, zone, platform and size of a reservation are known only if the stack creates it.
For an existing reservation a resource shows only the id.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pulumi_policy import PolicyResource

from trainyard.components.catalog.capacity_blocks import BOUGHT_TAG
from trainyard.components.catalog.parallelcluster import RESERVATION_PLATFORMS
from trainyard.policies.resources.launches import CAPACITY_BLOCK, LAUNCHES, Launch, templates_of
from trainyard.policies.resources.node_groups import instance_types_of, platform_of, sizes_of
from trainyard.policies.resources.parallelcluster import ComputeResource, compute_resources_of
from trainyard.policies.resources.props import UNKNOWN, is_set, whole_number
from trainyard.policies.resources.reservations import (
    ONLY,
    PREFERENCE,
    RESERVATION_TYPES,
    TARGET,
    Target,
    target_by_name,
    target_of,
)
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.subnets import zones_by_id, zones_of_group
from trainyard.policies.resources.types import (
    AUTO_SCALING_GROUP,
    AUTO_SCALING_SCHEDULE,
    BATCH_COMPUTE_ENVIRONMENT,
    CAPACITY_BLOCK_RESERVATION,
    EKS_NODE_GROUP,
    INSTANCE,
    LAUNCH_TEMPLATE,
)

GROUPS = (AUTO_SCALING_GROUP, EKS_NODE_GROUP, BATCH_COMPUTE_ENVIRONMENT, INSTANCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """Nodes that target a reservation of the stack. Unknown values are None."""

    urn: str
    where: str = ""
    """Which part of the resource it is, as the beginning of a message; empty for the whole."""
    target: Target
    market: Any
    """`capacity-block`, `spot`, None for On-Demand, or `UNKNOWN`."""
    confined: bool
    """Whether they run only in reserved capacity."""
    instance_types: frozenset[str] | None
    zones: frozenset[str] | None
    """Names of the zones of their subnets."""
    platform: str | None
    """As reservations name it, such as `Linux/UNIX`."""
    wanted: int | None
    """Nodes that launch at once."""
    maximum: int | None

    @property
    def names(self) -> str:
        """Names of the reservations, for a message."""
        return " and ".join(each.name for each in self.target.reservations)

    def reserved(self, stack: Stack, key: str) -> frozenset[str] | None:
        """Return the values of a property of the reservations.

        None if a value is unknown, or if there may be other reservations.
        """
        found = {stack.facts_of(each.urn).get(key) for each in self.target.reservations}
        if self.target.elsewhere or found & {None, UNKNOWN}:
            return None
        return frozenset(map(str, found))


def reserved_nodes(stack: Stack) -> Iterator[Nodes]:
    """Yield the groups of nodes, instances and unused launch templates with such a target."""
    if next(stack.of_type(*RESERVATION_TYPES), None) is None:
        return
    used: set[str] = set()
    for group in stack.of_type(*GROUPS):
        templates = templates_of(stack, group)
        used.update(template.urn for template in templates)
        template = templates[0] if len(templates) == 1 else None
        yield from _of_group(stack, group, template)
    for template in stack.of_type(LAUNCH_TEMPLATE):
        if template.urn not in used:
            yield from _of_group(stack, template, template)
    for clusters, nodes in compute_resources_of(stack):
        yield from _of_compute_resource(stack, clusters, nodes)


def _of_group(
    stack: Stack, group: PolicyResource, template: PolicyResource | None
) -> Iterator[Nodes]:
    # Settings of a group or an instance override those of its template.
    sources = [each for each in (group, template) if each is not None and _has_target(each)]
    found = [(each, target_of(stack, each)) for each in sources]
    source, target = next(((s, t) for s, t in found if t is not None), (None, None))
    if source is None or target is None or not target.reservations:
        return
    types = instance_types_of(stack, group, template)
    market = _market(stack, group, template)
    wanted, maximum = sizes_of(stack, group, types)
    yield Nodes(
        urn=group.urn,
        target=target,
        market=market,
        confined=market == CAPACITY_BLOCK or _is_confined(stack, source),
        instance_types=types,
        zones=zones_of_group(stack, group),
        platform=platform_of(stack, group),
        wanted=wanted,
        maximum=maximum,
    )


def _of_compute_resource(
    stack: Stack, clusters: PolicyResource, nodes: ComputeResource
) -> Iterator[Nodes]:
    target = target_by_name(stack, nodes.reservation_id, nodes.reservation_group)
    if target is None or not target.reservations:
        return
    yield Nodes(
        urn=clusters.urn,
        where=nodes.where,
        target=target,
        market={"CAPACITY_BLOCK": CAPACITY_BLOCK, "SPOT": "spot"}.get(nodes.capacity_type),
        confined=nodes.reservation_id is not None,
        instance_types=frozenset(nodes.instance_types) or None,
        zones=zones_by_id(stack, nodes.subnets),
        platform=RESERVATION_PLATFORMS.get(nodes.operating_system or ""),
        wanted=nodes.minimum,
        maximum=nodes.maximum,
    )


def _has_target(resource: PolicyResource) -> bool:
    return resource.resource_type in (*LAUNCHES, AUTO_SCALING_GROUP)


def _is_confined(stack: Stack, source: PolicyResource) -> bool:
    """Whether a launch runs only in its target.

    A target by id in EC2 always confines the launch. For a group of reservations, and in an Auto
    Scaling group, the preference decides.

    Source:
        https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
        https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html
    """
    facts = stack.facts_of(source.urn)
    by_id = is_set(facts.get(*TARGET, "capacityReservationId"))
    return by_id or facts.get(*PREFERENCE) in (ONLY, UNKNOWN)


def _market(stack: Stack, group: PolicyResource, template: PolicyResource | None) -> Any:
    for each in (group, template):
        if each is not None and each.resource_type in LAUNCHES:
            market = Launch(each.resource_type, stack.facts_of(each.urn)).market_type
            if market is not None:
                return market
    return None


@dataclass(frozen=True, slots=True)
class Demand:
    """Nodes that share reservations, and how many instances the reservations hold."""

    nodes: tuple[Nodes, ...]
    instances: int


def demands(stack: Stack) -> Iterator[Demand]:
    """Yield the nodes of each reservation, or group of reservations, with a known size."""
    shared: dict[frozenset[str], list[Nodes]] = {}
    for nodes in reserved_nodes(stack):
        if not nodes.target.elsewhere:
            urns = frozenset(each.urn for each in nodes.target.reservations)
            shared.setdefault(urns, []).append(nodes)
    for sharers in shared.values():
        reservations = {each.urn: each for each in sharers[0].target.reservations}
        sizes = [_instances(stack, each) for each in reservations.values()]
        known = [size for size in sizes if size is not None]
        if len(known) == len(sizes):
            yield Demand(tuple(sharers), sum(known))


def _instances(stack: Stack, reservation: PolicyResource) -> int | None:
    """Return how many instances a reservation has, or will have; None if that is unknown.

    A Capacity Block has a count of 0 until it starts, and the purchased count in a tag of AWS. The
    provider leaves tags of AWS out of its state (hashicorp/terraform-provider-aws,
    internal/tags/key_value_tags.go, IgnoreAWS); a program may set the tag, or another provider.
    """
    facts = stack.facts_of(reservation.urn)
    count = whole_number(facts.get("instanceCount"))
    if reservation.resource_type != CAPACITY_BLOCK_RESERVATION:
        return count
    bought = whole_number(facts.get("tagsAll", BOUGHT_TAG))
    return max(count or 0, bought or 0) or None


@dataclass(frozen=True, slots=True)
class ScheduledSize:
    """The size that a scheduled action gives a group."""

    at: datetime | None
    """When; None if that is unknown, or if the action recurs."""
    desired: int
    """Number of nodes from then on."""


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
            # The default of the provider is 0; -1 does not change the size.
            yield ScheduledSize(_time(facts.get("startTime")) if once else None, int(desired or 0))


def _groups(stack: Stack, action: PolicyResource, type_: str) -> set[str]:
    name = "autoscalingGroupName"
    reference = stack.refers(action, name, to=type_)
    found = reference.resources if reference else ()
    # A managed node group has another name than its Auto Scaling group.
    return {each.urn for each in (*found, *stack.dependencies(action, name, type_))}


def block_time(stack: Stack, nodes: Nodes, key: str) -> datetime | None:
    """Return when the Capacity Block of nodes starts (`startDate`) or ends (`endDate`).

    None if the stack does not create the block, or has not bought it yet.
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

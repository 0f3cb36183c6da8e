"""Groups of nodes that launch into a reservation of their own stack.

Only such a reservation shows its type, its zone, its platform and its size; of one that exists
already a resource shows the id, and the account has to be asked for the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pulumi_policy import PolicyResource

from components.catalog.parallelcluster import RESERVATION_PLATFORMS
from policies.clusters import ComputeResource, compute_resources
from policies.launch import CAPACITY_BLOCK, LAUNCHES, Launch
from policies.node_facts import instance_types_of, platform_of, sizes_of
from policies.props import UNKNOWN, Facts, is_set, whole_number
from policies.reservations import (
    ONLY,
    PREFERENCE,
    RESERVATIONS,
    TARGET,
    Target,
    target_by_name,
    target_of,
)
from policies.resource_types import (
    AUTO_SCALING_GROUP,
    BATCH_COMPUTE_ENVIRONMENT,
    CLOUDFORMATION_STACK,
    EKS_NODE_GROUP,
    INSTANCE,
    LAUNCH_TEMPLATE,
)
from policies.stack import Stack
from policies.templates import templates_of
from policies.zones import zones_by_id, zones_of_group

_BOUGHT = "aws:ec2capacityreservation:incrementalRequestedQuantity"
GROUPS = (AUTO_SCALING_GROUP, EKS_NODE_GROUP, BATCH_COMPUTE_ENVIRONMENT, INSTANCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """Nodes that target a reservation of the stack. What is not known is None."""

    urn: str
    where: str = ""
    """Which part of the resource it is, as the beginning of a message; empty for all of it."""
    target: Target
    market: Any
    """`capacity-block`, `spot`, None for On-Demand, or `UNKNOWN`."""
    confined: bool
    """Whether they run in reserved capacity or not at all."""
    instance_types: frozenset[str] | None
    zones: frozenset[str] | None
    """Names of the zones of their subnets."""
    platform: str | None
    """As reservations name it, such as `Linux/UNIX`."""
    wanted: int | None
    """Nodes that are launched at once."""
    maximum: int | None

    @property
    def names(self) -> str:
        """Names of the reservations, as a message says them."""
        return " and ".join(each.name for each in self.target.reservations)

    def reserved(self, stack: Stack, key: str) -> frozenset[str] | None:
        """Return what the reservations say under a key.

        None where one does not say it yet, and where there may be others.
        """
        found = {stack.facts_of(each.urn).get(key) for each in self.target.reservations}
        if self.target.elsewhere or found & {None, UNKNOWN}:
            return None
        return frozenset(map(str, found))


def reserved_nodes(stack: Stack) -> Iterator[Nodes]:
    """Yield the groups of nodes, instances and unused launch templates that target one."""
    if next(stack.of_type(*RESERVATIONS), None) is None:
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
    for clusters in stack.of_type(CLOUDFORMATION_STACK):
        for nodes in compute_resources(stack.facts_of(clusters.urn).get("templateBody")):
            yield from _of_compute_resource(stack, clusters, nodes)


def _of_group(
    stack: Stack, group: PolicyResource, template: PolicyResource | None
) -> Iterator[Nodes]:
    # What a group or an instance says goes before what its template says.
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
        where=f"in its compute resource {nodes.name}, ",
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
    """Whether a target is all that a launch takes.

    By id it always is in EC2; with a group of reservations, and in an Auto Scaling group, the
    preference decides.
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
    """Nodes that share the same reservations, and how many instances those hold."""

    nodes: tuple[Nodes, ...]
    instances: int


def demands(stack: Stack) -> Iterator[Demand]:
    """Yield the nodes of each reservation, or of each group of them, whose size is known."""
    shared: dict[frozenset[str], list[Nodes]] = {}
    for nodes in reserved_nodes(stack):
        if not nodes.target.elsewhere:
            urns = frozenset(each.urn for each in nodes.target.reservations)
            shared.setdefault(urns, []).append(nodes)
    for urns, sharers in shared.items():
        sizes = [_instances(stack.facts_of(urn)) for urn in urns]
        known = [size for size in sizes if size is not None]
        if len(known) == len(sizes):
            yield Demand(tuple(sharers), sum(known))


def _instances(facts: Facts) -> int | None:
    # A Capacity Block has no instances until it starts; what was bought stands in a tag of AWS.
    return whole_number(facts.first(("instanceCount",), ("tagsAll", _BOUGHT)))

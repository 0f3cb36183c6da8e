"""Subnets of a group of nodes, and their Availability Zones and VPCs."""

from __future__ import annotations

from collections.abc import Iterable

from pulumi_policy import PolicyResource

from trainyard.policies.resources.props import UNKNOWN
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import (
    AUTO_SCALING_GROUP,
    BATCH_COMPUTE_ENVIRONMENT,
    EKS_NODE_GROUP,
    INSTANCE,
    LAUNCH_TEMPLATE,
    SUBNET,
    VPC,
)

SUBNETS_OF = {
    AUTO_SCALING_GROUP: ("vpcZoneIdentifiers",),
    BATCH_COMPUTE_ENVIRONMENT: ("computeResources", "subnets"),
    EKS_NODE_GROUP: ("subnetIds",),
}
"""Property that lists the subnets, by type of the group."""


def subnets_of(stack: Stack, group: PolicyResource) -> list[PolicyResource] | None:
    """Return the subnets of a group of nodes; None if one of them is not in the stack."""
    return subnets_at(stack, group, SUBNETS_OF[group.resource_type])


def subnets_at(
    stack: Stack, resource: PolicyResource, path: tuple[str, ...]
) -> list[PolicyResource] | None:
    """Return the subnets in a list of ids, each once; None if one of them is not in the stack."""
    facts = stack.facts_of(resource.urn)
    if facts.get(*path) is UNKNOWN:
        return stack.dependencies(resource, path[0], SUBNET) or None
    found: dict[str, PolicyResource] = {}
    for index in range(facts.count(*path)):
        reference = stack.refers(resource, *path, index, to=SUBNET)
        if reference is None or reference.elsewhere:
            return None
        found.update((subnet.urn, subnet) for subnet in reference.resources)
    return list(found.values())


def zones_of(stack: Stack, subnets: list[PolicyResource]) -> set[object]:
    """Return the zones of subnets, with None or `UNKNOWN` for a zone that is not known."""
    return {
        stack.facts_of(subnet.urn).first(("availabilityZone",), ("availabilityZoneId",))
        for subnet in subnets
    }


def networks_of(stack: Stack, resources: list[PolicyResource]) -> set[str]:
    """Return the VPCs of subnets or security groups: the URN or id of each that is known."""
    found: set[str] = set()
    for resource in resources:
        reference = stack.refers(resource, "vpcId", to=VPC)
        if reference is None:
            continue
        # An unknown value that depends on several VPCs does not show which one it is.
        if len(reference.resources) == 1:
            found.add(reference.resources[0].urn)
        elif (vpc_id := stack.facts_of(resource.urn).get("vpcId")) is not UNKNOWN:
            found.add(str(vpc_id))
    return found


def zones_of_group(stack: Stack, group: PolicyResource) -> frozenset[str] | None:
    """Return the names of the zones in which a group, an instance or a template launches.

    None if one is unknown, or is known only by its id, which reservations do not use.
    """
    facts = stack.facts_of(group.urn)
    if group.resource_type == LAUNCH_TEMPLATE:
        return _known([facts.get("placement", "availabilityZone")])
    if group.resource_type == INSTANCE:
        given = _known([facts.get("availabilityZone")])
        return given or zones_of_subnets(stack, _subnet(stack, group))
    if group.resource_type not in SUBNETS_OF:
        return None
    zones = (facts.get("availabilityZones", i) for i in range(facts.count("availabilityZones")))
    return zones_of_subnets(stack, subnets_of(stack, group)) or _known(zones)


def zones_by_id(stack: Stack, subnet_ids: Iterable[str | None]) -> frozenset[str] | None:
    """Return the zones of subnets by their ids; None as for `zones_of_group`."""
    found = [stack.named(each, SUBNET).resources if each else () for each in subnet_ids]
    if not all(found):
        return None
    return zones_of_subnets(stack, [subnet for each in found for subnet in each])


def zones_of_subnets(
    stack: Stack, subnets: Iterable[PolicyResource] | None
) -> frozenset[str] | None:
    """Return the zones of subnets; None as for `zones_of_group`."""
    return _known(stack.facts_of(each.urn).get("availabilityZone") for each in subnets or ())


def _subnet(stack: Stack, instance: PolicyResource) -> tuple[PolicyResource, ...]:
    reference = stack.refers(instance, "subnetId", to=SUBNET)
    return reference.resources if reference else ()


def _known(zones: Iterable[object]) -> frozenset[str] | None:
    found = set(zones)
    if not found or found & {None, "", UNKNOWN}:
        return None
    return frozenset(map(str, found))

"""The subnets of a group of nodes, and their zones and networks."""

from __future__ import annotations

from pulumi_policy import PolicyResource

from policies.props import UNKNOWN
from policies.resource_types import (
    AUTO_SCALING_GROUP,
    BATCH_COMPUTE_ENVIRONMENT,
    EKS_NODE_GROUP,
    SUBNET,
    VPC,
)
from policies.stack import Stack

SUBNETS_OF = {
    AUTO_SCALING_GROUP: ("vpcZoneIdentifiers",),
    BATCH_COMPUTE_ENVIRONMENT: ("computeResources", "subnets"),
    EKS_NODE_GROUP: ("subnetIds",),
}
"""Where each kind of node group names its subnets."""


def subnets_of(stack: Stack, group: PolicyResource) -> list[PolicyResource] | None:
    """Return the subnets of a group of nodes; None if one of them was made elsewhere."""
    return subnets_at(stack, group, SUBNETS_OF[group.resource_type])


def subnets_at(
    stack: Stack, resource: PolicyResource, path: tuple[str, ...]
) -> list[PolicyResource] | None:
    """Return the subnets in a list of ids, each once; None if one of them was made elsewhere."""
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
    """Return the zones of subnets; None or `UNKNOWN` among them for one that is not told."""
    return {
        stack.facts_of(subnet.urn).first(("availabilityZone",), ("availabilityZoneId",))
        for subnet in subnets
    }


def networks_of(stack: Stack, resources: list[PolicyResource]) -> set[str]:
    """Return the VPCs of subnets or security groups: URN or id of each that is told for certain."""
    found: set[str] = set()
    for resource in resources:
        reference = stack.refers(resource, "vpcId", to=VPC)
        if reference is None:
            continue
        # Of several that went into a value which is not known, nobody can tell which is meant.
        if len(reference.resources) == 1:
            found.add(reference.resources[0].urn)
        elif (vpc_id := stack.facts_of(resource.urn).get("vpcId")) is not UNKNOWN:
            found.add(str(vpc_id))
    return found

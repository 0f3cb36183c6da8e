"""Names of the Availability Zones in which a group of nodes launches, as reservations have them."""

from __future__ import annotations

from collections.abc import Iterable

from pulumi_policy import PolicyResource

from policies.props import UNKNOWN
from policies.resource_types import INSTANCE, LAUNCH_TEMPLATE, SUBNET
from policies.stack import Stack
from policies.subnets import SUBNETS_OF, subnets_of


def zones_of_group(stack: Stack, group: PolicyResource) -> frozenset[str] | None:
    """Return the zones of a group, an instance or a template alone; None where one is not known."""
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
    """Return the zones of subnets that are named by their ids; None as above."""
    found = [stack.named(each, SUBNET).resources if each else () for each in subnet_ids]
    if not all(found):
        return None
    return zones_of_subnets(stack, [subnet for each in found for subnet in each])


def zones_of_subnets(
    stack: Stack, subnets: Iterable[PolicyResource] | None
) -> frozenset[str] | None:
    """Return the zones of subnets; None as above."""
    return _known(stack.facts_of(each.urn).get("availabilityZone") for each in subnets or ())


def _subnet(stack: Stack, instance: PolicyResource) -> tuple[PolicyResource, ...]:
    reference = stack.refers(instance, "subnetId", to=SUBNET)
    return reference.resources if reference else ()


def _known(zones: Iterable[object]) -> frozenset[str] | None:
    found = set(zones)
    if not found or found & {None, "", UNKNOWN}:
        return None
    return frozenset(map(str, found))

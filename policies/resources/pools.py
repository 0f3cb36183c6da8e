"""Pools: resources that launch several nodes, with one set of names for their properties.

A pool is an Auto Scaling group, an EKS node group, a Batch compute environment or a fleet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pulumi_policy import PolicyResource

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.policies.resources.launches import (
    FLEET_CONFIGS,
    MIXED,
    PLACEMENT_GROUP_PATHS,
    Launch,
    templates_of,
)
from trainyard.policies.resources.props import UNKNOWN, Facts, is_set
from trainyard.policies.resources.reservations import TARGET
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.subnets import SUBNETS_OF, subnets_of, zones_of
from trainyard.policies.resources.types import (
    AUTO_SCALING_GROUP,
    BATCH_COMPUTE_ENVIRONMENT,
    EC2_FLEET,
    EKS_NODE_GROUP,
    LAUNCH_TEMPLATE,
    SPOT_FLEET_REQUEST,
    SUBNET,
)

Path = tuple[str | int, ...]

_TYPE_LISTS: dict[str, Path] = {
    BATCH_COMPUTE_ENVIRONMENT: ("computeResources", "instanceTypes"),
    EKS_NODE_GROUP: ("instanceTypes",),
}
_MAXIMA: dict[str, Path] = {
    AUTO_SCALING_GROUP: ("maxSize",),
    EC2_FLEET: ("targetCapacitySpecification", "totalTargetCapacity"),
    EKS_NODE_GROUP: ("scalingConfig", "maxSize"),
    SPOT_FLEET_REQUEST: ("targetCapacity",),
}
POOLS = (
    AUTO_SCALING_GROUP,
    BATCH_COMPUTE_ENVIRONMENT,
    EC2_FLEET,
    EKS_NODE_GROUP,
    SPOT_FLEET_REQUEST,
)
"""Types that `Pool` reads."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Several subnets or zones in which a pool launches its nodes."""

    count: int
    what: str
    """`subnets` or `zones`."""
    key: str
    """The property that lists them."""


class Pool:
    """One pool of nodes. Missing values are None, unknown values are `UNKNOWN`."""

    def __init__(self, stack: Stack, resource: PolicyResource) -> None:
        self._stack = stack
        self.resource = resource
        self.facts: Facts = stack.facts_of(resource.urn)
        self._type = resource.resource_type

    def templates(self) -> Iterator[tuple[PolicyResource, Launch]]:
        """Yield the launch templates of the stack that the pool may use."""
        for template in templates_of(self._stack, self.resource):
            yield template, Launch(LAUNCH_TEMPLATE, self._stack.facts_of(template.urn))

    def efa_template(self) -> tuple[PolicyResource, Launch] | None:
        """Return its first launch template with EFA interfaces."""
        return next((pair for pair in self.templates() if pair[1].efa_interfaces()), None)

    @property
    def placement_group(self) -> Any:
        """Name of the placement group that the pool itself sets."""
        return self.facts.first(*PLACEMENT_GROUP_PATHS.get(self._type, ()))

    @property
    def reservation(self) -> Any:
        """The reservation, or group of reservations, that the pool itself targets."""
        return self.facts.first(
            (*TARGET, "capacityReservationIds", 0),
            (*TARGET, "capacityReservationResourceGroupArns", 0),
        )

    def instance_types(self) -> list[Any]:
        """Return the types that the pool itself lists; they override that of a template.

        A Batch environment can list a family (`p5`) or `optimal` instead of a type.
        """
        if self._type in _TYPE_LISTS:
            path = _TYPE_LISTS[self._type]
            return [self.facts.get(*path, i) for i in range(self.facts.count(*path))]
        found = (self.facts.get(*path, "instanceType") for path in self._overrides())
        return [each for each in found if is_set(each)]

    def launched_types(self, launch: Launch) -> list[Any]:
        """Return the types that the pool launches with one of its templates."""
        listed = self.instance_types()
        return listed or [each for each in [launch.instance_type] if is_set(each)]

    def may_hold_several(self, launch: Launch) -> bool:
        """Whether it can have more than one node; False if its size is unknown."""
        if self._type == BATCH_COMPUTE_ENVIRONMENT:
            known = [INSTANCE_TYPES.get(each) for each in self.launched_types(launch)]
            vcpus = self.facts.number("computeResources", "maxVcpus")
            smallest = min((each.vcpus for each in known if each), default=None)
            return isinstance(vcpus, float) and smallest is not None and vcpus >= 2 * smallest
        size = self.facts.number(*_MAXIMA[self._type])
        return isinstance(size, float) and size > 1

    def spreads(self) -> Iterator[Spread]:
        """Yield the subnets and the zones of the pool that are, or may be, in several zones."""
        if self._type in SUBNETS_OF:
            path = SUBNETS_OF[self._type]
            if self.facts.get(*path) is UNKNOWN and self._depends_on_one_zone():
                return
            paths: list[Path] = [(*path, i) for i in range(self.facts.count(*path))]
            yield from self._spread(paths, str(path[-1]))
            zones = self.facts.count("availabilityZones")
            # For an existing group AWS reports the zones of its subnets here.
            if zones > 1 and not paths:
                yield Spread(zones, "zones", "availabilityZones")
            return
        overrides = list(self._overrides())
        subnets = [(*path, "subnetId") for path in overrides]
        yield from self._spread([path for path in subnets if is_set(self.facts.get(*path))], "")
        found = {self.facts.get(*path, "availabilityZone") for path in overrides}
        if len(found - {None, UNKNOWN}) > 1:
            yield Spread(len(found - {None, UNKNOWN}), "zones", "overrides")

    def subnets(self) -> list[PolicyResource]:
        """Return the subnets of the stack in which it may launch nodes."""
        paths = [(*path, "subnetId") for path in self._overrides()]
        if self._type in SUBNETS_OF:
            path = SUBNETS_OF[self._type]
            paths = [(*path, i) for i in range(self.facts.count(*path))]
        found = [self._stack.refers(self.resource, *path, to=SUBNET) for path in paths]
        return list({s.urn: s for each in found if each for s in each.resources}.values())

    def _spread(self, paths: list[Path], key: str) -> Iterator[Spread]:
        if len({self._identity(path) for path in paths}) > 1 and not self._one_zone(paths):
            yield Spread(len(paths), "subnets", key or "overrides")

    def _depends_on_one_zone(self) -> bool:
        """Whether all subnets that an unknown list depends on are in the same zone."""
        return self._in_one_zone(subnets_of(self._stack, self.resource) or [])

    def _identity(self, path: Path) -> object:
        value = self.facts.get(*path)
        return path if value is None or value is UNKNOWN else value

    def _one_zone(self, paths: list[Path]) -> bool:
        """Whether all subnets are in the stack and in the same zone."""
        found: list[PolicyResource] = []
        for path in paths:
            reference = self._stack.refers(self.resource, *path, to=SUBNET)
            if reference is None or reference.elsewhere:
                return False
            found += reference.resources
        return self._in_one_zone(found)

    def _in_one_zone(self, subnets: list[PolicyResource]) -> bool:
        zones = zones_of(self._stack, subnets)
        return len(zones) == 1 and not zones & {None, UNKNOWN}

    def _overrides(self) -> Iterator[Path]:
        """Yield the path of each override of an Auto Scaling group or a fleet."""
        lists: list[Path] = [(*MIXED, "overrides")]
        if self._type in (EC2_FLEET, SPOT_FLEET_REQUEST):
            configs = range(self.facts.count(FLEET_CONFIGS))
            lists = [(FLEET_CONFIGS, index, "overrides") for index in configs]
        for path in lists:
            for index in range(self.facts.count(*path)):
                yield (*path, index)


def pools(stack: Stack) -> Iterator[Pool]:
    """Yield the pools of a stack, in the order of their registration."""
    return (Pool(stack, resource) for resource in stack.of_type(*POOLS))

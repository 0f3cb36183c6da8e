"""The resources of a stack, and the references between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from pulumi_policy import PolicyResource

from trainyard.policies.resources.props import UNKNOWN, Facts


@dataclass(frozen=True, slots=True)
class Reference:
    """What a property refers to."""

    resources: tuple[PolicyResource, ...]
    """Resources of the stack that it may be; several only if the value is unknown."""
    elsewhere: bool
    """Whether it is, or may be, a resource outside the stack."""


class Resources(list[PolicyResource]):
    """The resources of a stack, indexed by type, URN and name.

    Each request builds the index once for all stack rules.
    """

    def __init__(self, resources: Iterable[PolicyResource]) -> None:
        super().__init__(resources)
        self.places: dict[str, list[int]] = {}
        """Positions in the list, by type."""
        self.by_urn: dict[str, PolicyResource] = {}
        self._names: dict[str, dict[str, list[int]]] = {}
        for place, resource in enumerate(self):
            self.places.setdefault(resource.resource_type, []).append(place)
            self.by_urn[resource.urn] = resource

    def named(self, name: object, *types: str) -> list[PolicyResource]:
        """Return the resources of some types with this id, name or ARN, in their order."""
        if not isinstance(name, str):
            return []
        found = (self._names_of(type_).get(name, ()) for type_ in dict.fromkeys(types))
        return [self[place] for place in sorted(chain.from_iterable(found))]

    def _names_of(self, type_: str) -> dict[str, list[int]]:
        """Return the positions of the resources of a type, by id, name and ARN."""
        if type_ not in self._names:
            names = self._names[type_] = {}
            for place in self.places.get(type_, ()):
                facts = facts_of(self[place])
                for name in {facts.get(key) for key in ("id", "name", "arn")}:
                    if isinstance(name, str):
                        names.setdefault(name, []).append(place)
        return self._names[type_]


class Stack:
    """The resources of one stack, as one rule sees them.

    The id of a resource is unknown until it is created. References to it are therefore found by
    the dependencies of a property, or by the id if that is known.
    """

    def __init__(self, resources: Sequence[PolicyResource]) -> None:
        self._resources = resources if isinstance(resources, Resources) else Resources(resources)
        # `Facts` records the unknown values of one rule, so rules do not share them.
        self._facts: dict[str, Facts] = {}

    def facts_of(self, urn: str) -> Facts:
        """Return the properties of a resource."""
        facts = self._facts.get(urn)
        if facts is None:
            facts = self._facts[urn] = facts_of(self._resources.by_urn[urn])
        return facts

    def of_type(self, *types: str) -> Iterator[PolicyResource]:
        """Yield the resources of some types, in the order of their registration."""
        found = (self._resources.places.get(type_, ()) for type_ in dict.fromkeys(types))
        return (self._resources[place] for place in sorted(chain.from_iterable(found)))

    def refers(self, resource: PolicyResource, *path: str | int, to: str) -> Reference | None:
        """Return the resources of a type that the property at a path refers to.

        None if the property is missing.
        """
        value = self.facts_of(resource.urn).get(*path)
        if value is None:
            return None
        if value is UNKNOWN:
            found = self.dependencies(resource, str(path[0]), to)
            return Reference(tuple(found), elsewhere=not found)
        return self.named(value, to)

    def named(self, value: object, *types: str) -> Reference:
        """Return the resources of some types with this id, name or ARN."""
        found = self._resources.named(value, *types)
        return Reference(tuple(found), elsewhere=not found)

    def dependencies(
        self, resource: PolicyResource, property_name: str, type_: str
    ) -> list[PolicyResource]:
        """Return the resources of a type on whose outputs a property depends."""
        found = resource.property_dependencies.get(property_name, [])
        return [r for r in found if r.resource_type == type_]

    def say_what_is_undecided(self) -> None:
        """Report the first unknown value that the rule needed, as `Facts` does."""
        for resource in self._resources:
            if resource.urn in self._facts:
                self._facts[resource.urn].say_what_is_undecided()


def facts_of(resource: PolicyResource) -> Facts:
    """Return the properties of a resource of a stack."""
    later = {name for name, found in resource.property_dependencies.items() if found}
    return Facts(resource.name, resource.props, later)

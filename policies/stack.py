"""The resources of a stack, and how one of them refers to another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pulumi_policy import PolicyResource

from policies.props import UNKNOWN, Facts


@dataclass(frozen=True, slots=True)
class Reference:
    """What a property refers to."""

    resources: tuple[PolicyResource, ...]
    """Resources of the stack that it may be; several only while the value is not known."""
    elsewhere: bool
    """Whether it is, or may be, something that the stack does not hold."""


class Stack:
    """The resources of one stack.

    Their ids are unknown until they are made, so a resource is found through the dependencies of
    the property that names it, or by its id once that is known.
    """

    def __init__(self, resources: Sequence[PolicyResource]) -> None:
        self._resources = resources
        self._facts = {r.urn: Facts(r.name, r.props, _given_later(r)) for r in resources}

    def facts_of(self, urn: str) -> Facts:
        """Return the properties of a resource."""
        return self._facts[urn]

    def of_type(self, *types: str) -> Iterator[PolicyResource]:
        """Yield the resources of some types, in the order in which they were registered."""
        return (r for r in self._resources if r.resource_type in types)

    def refers(self, resource: PolicyResource, *path: str | int, to: str) -> Reference | None:
        """Return what the property at a path refers to, among resources of a type.

        None where the property is missing.
        """
        value = self.facts_of(resource.urn).get(*path)
        if value is None:
            return None
        if value is UNKNOWN:
            found = self.dependencies(resource, str(path[0]), to)
            return Reference(tuple(found), elsewhere=not found)
        found = [r for r in self.of_type(to) if value in self._names(r)]
        return Reference(tuple(found), elsewhere=not found)

    def dependencies(
        self, resource: PolicyResource, property_name: str, type_: str
    ) -> list[PolicyResource]:
        """Return the resources of a type whose outputs went into a property."""
        found = resource.property_dependencies.get(property_name, [])
        return [r for r in found if r.resource_type == type_]

    def say_what_is_undecided(self) -> None:
        """As `Facts.say_what_is_undecided`, for the first resource that has something to say."""
        for facts in self._facts.values():
            facts.say_what_is_undecided()

    def _names(self, resource: PolicyResource) -> Iterable[object]:
        facts = self.facts_of(resource.urn)
        return [facts.get(key) for key in ("id", "name", "arn")]


def _given_later(resource: PolicyResource) -> set[str]:
    return {name for name, found in resource.property_dependencies.items() if found}

"""The points of a stack's `up` at which an object of the account or a cluster is created."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

_REMOTE = "eks:index:Cluster"
"""A component whose outputs are available when the plugin has created all of its children."""


@dataclass(frozen=True, slots=True, order=True)
class Point:
    """An object that an `up` creates."""

    depth: int
    """Length of the longest chain of dependencies that ends with this object; the first have 1."""
    urn: str

    @property
    def name(self) -> str:
        """The logical name."""
        return self.urn.rpartition("::")[2]

    @property
    def type(self) -> str:
        """The Pulumi type, without those of the components around it."""
        return self.urn.split("::")[2].rpartition("$")[2]


def points(state: Mapping[str, Any]) -> list[Point]:
    """Return the points of a stack that is up, in a possible order of creation.

    Components, providers and the stack itself are left out: they create nothing outside of the
    state.
    """
    resources = {each["urn"]: each for each in state["resources"]}
    insides = _insides(resources)

    @cache
    def depth(urn: str) -> int:
        each = resources[urn]
        needed = {other for direct in _needed(each) for other in _waited_for(urn, direct, insides)}
        return int(_is_made(each)) + max(map(depth, needed), default=0)

    return sorted(Point(depth(urn), urn) for urn, each in resources.items() if _is_made(each))


def _insides(resources: Mapping[str, Mapping[str, Any]]) -> dict[str, frozenset[str]]:
    """Return the components that a plugin creates, by URN, with all of their descendants."""
    remote = [urn for urn, each in resources.items() if each["type"] == _REMOTE]
    found: dict[str, frozenset[str]] = {}
    for component in remote:
        inside = {component}
        # A parent is listed before its children.
        for urn, each in resources.items():
            inside |= {urn} if each.get("parent") in inside else set()
        found[component] = frozenset(inside)
    return found


def _waited_for(urn: str, needed: str, insides: Mapping[str, frozenset[str]]) -> Iterator[str]:
    """Yield the objects of a dependency: for a component of a plugin, all of its children."""
    yield needed
    for component, inside in insides.items():
        if needed in inside and urn not in inside:
            yield from inside - {component}


def waves(found: Iterable[Point]) -> list[list[Point]]:
    """Return the points in groups without dependencies between their members."""
    everything = list(found)
    depths = sorted({point.depth for point in everything})
    return [[point for point in everything if point.depth == depth] for depth in depths]


def sampled(found: list[Point], number: int) -> list[Point]:
    """Return this number of points, evenly spread in creation order, with the first and last."""
    if number >= len(found):
        return found
    last = len(found) - 1
    return [found[round(index * last / max(1, number - 1))] for index in range(number)]


def in_few_waves(found: list[Point], number: int, kills: int) -> list[Point]:
    """Return this number of points from as few waves as possible, but from at least `kills` waves.

    They include the first and the last wave, and the largest of the others: every wave is a kill,
    and every kill is one more `up`.
    """
    everything = waves(found)
    first, *others, last = everything if len(everything) > 1 else [[], *everything]
    chosen = [first, last]
    for wave in sorted(others, key=len, reverse=True):
        if len(chosen) >= kills and sum(map(len, chosen)) >= number:
            break
        chosen.append(wave)
    return sampled(sorted(point for wave in chosen for point in wave), number)


def _is_made(resource: Mapping[str, Any]) -> bool:
    external = resource.get("external") or resource["type"].startswith("pulumi:")
    return bool(resource.get("custom")) and not external


def _needed(resource: Mapping[str, Any]) -> Iterator[str]:
    yield from resource.get("dependencies") or []
    for urns in (resource.get("propertyDependencies") or {}).values():
        yield from urns or []
    # A reference to a provider is its URN and its id.
    yield from [resource["provider"].rpartition("::")[0]] if resource.get("provider") else []
    yield from [resource["parent"]] if resource.get("parent") else []

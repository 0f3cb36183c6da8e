"""The points of a stack's `up` at which an object of the account or a cluster is created."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tests.support.kills.gate import Moment
from tests.support.kills.harness import KillHarness, Victim
from tests.support.remains import difference, normalised, remains, removed_by_hand, untold

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


Kill = tuple[Mapping[str, Moment], Victim]
"""The moment of each stopped call, and the process that is killed."""
UNCHANGED = "0 changed"


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """The result of an `up` without interruptions."""

    before: list[str]
    """Inventory of the account without the stack."""
    after: list[str]
    """Inventory with it, normalised."""
    kept: list[str]
    """Difference of the account after `destroy` from before: the protected objects."""
    points: list[Point]


@dataclass(slots=True)
class Life:
    """The result of a stack that was killed."""

    made: list[str] = field(default_factory=list)
    """URNs of the objects that existed at a kill and whose creation the engine did not record."""
    kills: int = 0
    said: list[str] = field(default_factory=list)
    """Output of each killed command, and of the final `up`."""
    differences: list[str] = field(default_factory=list)
    """Difference of the account from that after an uninterrupted `up`: more (`+`) or less (`-`)."""
    second: str = ""
    """Output of one more `up`."""
    left: list[str] = field(default_factory=list)
    """Difference of the account after `destroy` from a life without kills, and objects that
    `destroy` retained without naming them."""

    @property
    def converged(self) -> bool:
        """Whether the result is that of an uninterrupted `up`, and nothing is left over."""
        return not self.differences and not self.left and UNCHANGED in self.second


def undisturbed(harness: KillHarness) -> Undisturbed:
    """Bring the stack up and down once, and remove the retained objects."""
    sandbox, stack = harness.sandbox, harness.stack
    before = sandbox.inventory()
    sandbox.without_preview().must("up", stack, "--sandbox", "--yes")
    after = normalised(sandbox.inventory(), before)
    found = points(harness.state())
    kept, unnamed = _destroyed(harness, before)
    assert not unnamed, f"an undisturbed destroy leaves {unnamed} without a word"
    return Undisturbed(before, after, kept, found)


def live(
    harness: KillHarness,
    reference: Undisturbed,
    kills: Iterable[Kill],
    destroy_kills: Iterable[Kill] = (),
) -> Life:
    """Kill one `up` after the other, let the last one finish, and destroy the stack.

    `destroy_kills` are for `destroy`, which resumes after each, like `up`.
    """
    sandbox, stack, life = harness.sandbox, harness.stack, Life()
    for moments, victim in kills:
        left = dict(moments)
        # Points that a kill missed, because they depend on a held one, get one more kill.
        while any(moment.is_made for moment in left.values()):
            killed = harness.killed("up", left, victim)
            assert killed.happened, f"nothing reached the gate:\n{killed.said}"
            made = {urn for urn in killed.held if left[urn].is_made}
            life.made += sorted(made)
            life.kills += 1
            life.said.append(killed.said)
            left = {urn: each for urn, each in left.items() if urn not in made}
    at_once = sandbox.without_preview()
    life.said.append(at_once.must("up", stack, "--sandbox", "--yes").said)
    found = normalised(sandbox.inventory(), reference.before)
    life.differences = difference(reference.after, found)
    life.second = at_once.must("up", stack, "--sandbox", "--yes").stdout
    for moments, victim in destroy_kills:
        killed = harness.killed("destroy", moments, victim)
        assert killed.happened, f"nothing reached the gate:\n{killed.said}"
    kept, unnamed = _destroyed(harness, reference.before)
    life.left = [*difference(reference.kept, kept), *unnamed]
    return life


def _destroyed(harness: KillHarness, before: list[str]) -> tuple[list[str], list[str]]:
    """Destroy the stack; return the retained objects, and those that the command did not name."""
    sandbox = harness.sandbox
    answer = sandbox.without_preview().must("destroy", harness.stack, "--sandbox", "--yes").stdout
    after = sandbox.inventory()
    removed_by_hand(sandbox, before)
    return remains(before, after), untold(before, after, answer)


def by_waves(chosen: list[Point], victim: Victim = Victim.ENGINE) -> Iterator[Kill]:
    """Yield a kill for each group of concurrent points: none of their calls gets an answer."""
    return _in_turn(waves(chosen), victim)


def one_by_one(chosen: list[Point], victim: Victim = Victim.ENGINE) -> Iterator[Kill]:
    """Yield a kill for each point: its call gets no answer, and concurrent calls do not begin."""
    return _in_turn([[point] for point in sorted(chosen)], victim)


def _in_turn(groups: list[list[Point]], victim: Victim) -> Iterator[Kill]:
    for number, group in enumerate(groups):
        # A later point must not be created before its turn.
        later = {point.urn: Moment.NOT_BEGUN for each in groups[number + 1 :] for point in each}
        yield {**later, **{point.urn: Moment.UNANSWERED for point in group}}, victim

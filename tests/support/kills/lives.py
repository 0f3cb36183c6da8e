"""The life of a stack whose `up` is killed repeatedly, and its required result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tests.support.kills.gate import Moment
from tests.support.kills.harness import KillHarness, Victim
from tests.support.kills.inventories import difference, normalised
from tests.support.kills.points import Point, points, waves
from tests.support.remains import remains, removed_by_hand, untold

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
        # Points that a kill missed on a busy machine get one more kill.
        while any(moment.is_made for moment in left.values()):
            killed = harness.killed("up", left, victim)
            assert killed.happened, f"nothing reached the gate:\n{killed.said}"
            life.made += [urn for urn in killed.held if left[urn].is_made]
            life.kills += 1
            life.said.append(killed.said)
            left = {urn: each for urn, each in left.items() if urn not in killed.held}
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

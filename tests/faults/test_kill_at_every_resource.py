"""`kill -9` at every object of a stack, then `up` or `destroy`: no leftovers, no duplicates.

`docs/recovery.md` describes the `up` after a kill. Kills happen at groups of objects without
dependencies between them: all objects of a group are created, and the engine gets no answer for
any. One kill for each object takes longer and is run manually: `python -m tests.support.kills
p5-cb`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.kills.harness import KillHarness
from tests.support.kills.lives import (
    UNCHANGED,
    Kill,
    Undisturbed,
    by_waves,
    live,
    undisturbed,
)
from tests.support.remains import difference
from tests.support.sandbox import Sandbox

pytestmark = [pytest.mark.sandbox, pytest.mark.first]

STACK = "p5-cb"
NODES = {"aws:eks/nodeGroup:NodeGroup", "aws:autoscaling/group:Group"}
"""Types that have instances."""


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KillHarness]:
    """The stack in its own sandbox; it does not exist at the beginning and the end of a test."""
    sandbox = Sandbox(tmp_path_factory.mktemp("kills") / "sandbox")
    sandbox.must("sandbox", "start")
    yield KillHarness(sandbox, STACK)
    sandbox.must("sandbox", "stop")


@pytest.fixture(scope="module")
def reference(harness: KillHarness) -> Undisturbed:
    """The result of the stack without interruptions."""
    return undisturbed(harness)


def at_the_nodes(reference: Undisturbed) -> Kill:
    """Return the kill at the node groups, which depend on roles, cluster and launch templates."""
    (kill,) = by_waves([point for point in reference.points if point.type in NODES])
    return kill


def test_an_engine_killed_at_every_object_comes_to_the_same_end(
    harness: KillHarness, reference: Undisturbed
) -> None:
    """`destroy` is also killed, while it deletes nodes, and the next one continues."""
    kills = by_waves(reference.points)
    life = live(harness, reference, kills, destroy_kills=[at_the_nodes(reference)])
    assert set(life.made) == {point.urn for point in reference.points}
    assert not life.differences
    assert UNCHANGED in life.second
    assert not life.left


def test_destroy_removes_the_nodes_that_a_killed_up_has_made(
    harness: KillHarness, reference: Undisturbed
) -> None:
    moments, _ = at_the_nodes(reference)
    killed = harness.killed("up", moments)
    assert set(killed.held) == set(moments)
    assert f"the engine was killed during the up of {STACK}" in killed.said
    said = harness.sandbox.without_preview().must("destroy", STACK, "--sandbox", "--yes").said
    assert "added aws:eks/nodeGroup:NodeGroup" in said
    assert "added aws:autoscaling/group:Group" in said
    assert not difference(reference.before, harness.sandbox.inventory())

"""`kill -9` at ten objects of other kinds of stacks, and of processes other than the engine.

Like `test_kill_at_every_resource`, with ten objects of each stack: the first, the last, and others
from the largest groups of concurrent objects. The other EKS stacks have the types of `p5-cb`. Run
it manually for all objects: `python -m tests.support.kills batch-p5 --waves`.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from tests.support.kills.gate import Moment
from tests.support.kills.harness import KillHarness, Victim, is_running
from tests.support.kills.lives import (
    UNCHANGED,
    Undisturbed,
    by_waves,
    in_few_waves,
    live,
    undisturbed,
)
from tests.support.processes import until
from tests.support.remains import difference, normalised
from tests.support.sandbox import Sandbox, running

pytestmark = [pytest.mark.sandbox, pytest.mark.first]

SAMPLE, KILLS = 10, 3
HEAVY = "pc-trn1"
"""For ParallelCluster, a stack with its own VPC: in an existing VPC, a stack is a single object."""
LIGHT = "batch-p5"
"""A stack that is created quickly, for behaviour that is the same in all stacks."""
RULES = {
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
}
QUEUES = {"aws:batch/jobQueue:JobQueue"}


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One account for all stacks; each leaves it unchanged."""
    with running(tmp_path_factory.mktemp("kills") / "sandbox") as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def reference_of(account: Sandbox) -> Callable[[str], Undisturbed]:
    """Return the result of a stack without interruptions; it is brought up once."""
    return cache(lambda stack: undisturbed(KillHarness(account, stack)))


@pytest.mark.parametrize("stack", [pytest.param(HEAVY, id=f"@{HEAVY}@"), LIGHT])
def test_an_engine_killed_at_ten_objects_comes_to_the_same_end(
    account: Sandbox, reference_of: Callable[[str], Undisturbed], stack: str
) -> None:
    reference = reference_of(stack)
    chosen = in_few_waves(reference.points, SAMPLE, KILLS)
    life = live(KillHarness(account, stack), reference, by_waves(chosen))
    assert set(life.made) == {point.urn for point in chosen}
    assert not life.differences
    assert UNCHANGED in life.second
    assert not life.left


def test_what_a_killed_destroy_has_deleted_is_made_again_or_no_longer_missed(
    account: Sandbox, reference_of: Callable[[str], Undisturbed]
) -> None:
    """Covers the types that the provider cannot read after their deletion.

    The `up` in between has the preview of a user.
    """
    at_once = account.without_preview()
    reference, harness = reference_of(LIGHT), KillHarness(account, LIGHT)

    def killed_at(types: set[str]) -> None:
        deleted = {each.urn: Moment.UNANSWERED for each in reference.points if each.type in types}
        killed = harness.killed("destroy", deleted)
        assert set(killed.held) == deleted.keys(), killed.said

    at_once.must("up", LIGHT, "--sandbox", "--yes")
    killed_at(QUEUES)
    killed_at(RULES)
    account.warm().must("up", LIGHT, "--sandbox", "--yes")
    found = normalised(account.inventory(), reference.before)
    assert not difference(reference.after, found)
    killed_at(RULES)
    at_once.must("destroy", LIGHT, "--sandbox", "--yes")
    assert not difference(reference.before, account.inventory())


def test_a_program_that_is_killed_ends_the_command_and_leaves_nothing_unknown(
    account: Sandbox, reference_of: Callable[[str], Undisturbed]
) -> None:
    """The engine survives, gets the answers to all calls in flight, and reports why it stops."""
    reference, harness = reference_of(LIGHT), KillHarness(account, LIGHT)
    first, *_ = by_waves(reference.points, Victim.PROGRAM)
    killed = harness.killed("up", *first)
    assert killed.exit_code == 1
    assert f"up of {LIGHT} did not complete" in killed.said
    state = harness.state()
    assert not state.get("pending_operations")
    assert set(killed.held) <= {each["urn"] for each in state["resources"] if each.get("id")}
    account.without_preview().must("destroy", LIGHT, "--sandbox", "--yes")
    assert not difference(reference.before, account.inventory())


def test_an_engine_whose_launcher_was_killed_is_found_by_the_next_command(
    account: Sandbox, reference_of: Callable[[str], Undisturbed]
) -> None:
    reference, harness = reference_of(LIGHT), KillHarness(account, LIGHT)
    first, *_ = by_waves(reference.points, Victim.LAUNCHER)
    orphan = harness.killed("up", *first).engine_pid
    refused = account.run("up", LIGHT, "--sandbox", "--yes")
    assert refused.exit_code == 1
    assert f"another command uses stack {LIGHT}: " in refused.said
    # The instruction of the message.
    assert f"kill -INT {orphan}" in refused.said
    os.kill(orphan, signal.SIGINT)
    harness.gate.open()
    until(lambda: not is_running(orphan), "the engine to end")
    assert not harness.state().get("pending_operations")
    account.without_preview().must("destroy", LIGHT, "--sandbox", "--yes")
    assert not difference(reference.before, account.inventory())

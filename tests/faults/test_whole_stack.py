"""A quick stack under a schedule of faults: transient faults are survived, others end the command.

Run it manually for stacks of every kind, including read-only commands: `python -m
tests.support.faults batch-p5`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from tests.support.faults.stacks import DURING_DESTROY, RULES, SURVIVABLE, throw
from tests.support.kills.lives import UNCHANGED
from tests.support.sandbox import Done, Sandbox

pytestmark = pytest.mark.sandbox

STACK = "batch-p5"


@dataclass(slots=True)
class Life:
    """The results of the commands."""

    fatal: Done | None = None
    """`up` under a fatal fault."""
    second: Done | None = None
    """The next `up`, under transient faults."""
    happened: int = 0
    """Kinds of faults that occurred in it."""
    third: Done | None = None
    """One more `up`, without faults."""
    destroy: Done | None = None
    """`destroy` under transient faults."""
    before: list[str] = field(default_factory=list[str])
    after: list[str] = field(default_factory=list[str])


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Life]:
    """Run all commands, and record the results."""
    folder = tmp_path_factory.mktemp("faults")
    sandbox = Sandbox(folder / "sandbox").warm()
    sandbox.must("sandbox", "start")
    life = Life(before=sandbox.inventory())
    up = ("up", STACK, "--sandbox", "--yes")
    try:
        throw(sandbox, folder, [RULES])
        at_once = sandbox.without_preview()
        life.fatal = at_once.run(*up)
        sandbox.must("sandbox", "faults", SURVIVABLE)
        life.second = sandbox.run(*up)
        faults = json.loads(sandbox.must("sandbox", "faults", "--json").stdout)
        life.happened = sum(1 for each in faults if each["happened"])
        sandbox.must("sandbox", "faults", "--clear")
        life.third = at_once.run(*up)
        throw(sandbox, folder, DURING_DESTROY)
        life.destroy = at_once.run("destroy", STACK, "--sandbox", "--yes")
        life.after = sandbox.inventory()
        yield life
    finally:
        sandbox.must("sandbox", "stop")


def test_a_fault_that_does_not_pass_ends_the_command_with_what_to_do(life: Life) -> None:
    assert life.fatal is not None
    assert life.fatal.exit_code == 1
    assert "RulesPerSecurityGroupLimitExceeded" in life.fatal.said
    assert f"./trainyard up {STACK} --sandbox" in life.fatal.stderr
    assert "Traceback" not in life.fatal.said


def test_the_next_up_goes_on_from_there_and_survives_what_passes(life: Life) -> None:
    assert life.second is not None
    assert life.second.exit_code == 0, life.second.said
    assert life.happened > 1


def test_nothing_is_left_to_do_after_it(life: Life) -> None:
    assert life.third is not None
    assert UNCHANGED in life.third.stdout, life.third.said


def test_destroy_under_faults_that_pass_leaves_the_account_as_it_was(life: Life) -> None:
    assert life.destroy is not None
    assert life.destroy.exit_code == 0, life.destroy.said
    assert life.after == life.before

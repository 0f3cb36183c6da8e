"""A stack that is up soon, under a schedule of faults: what passes is survived, what does not ends.

By hand, for stacks of every kind and with the commands that only read:
`python -m tests.support.faults batch-p5`.
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
    """What was seen."""

    fatal: Done | None = None
    """`up` under a fault that it does not survive."""
    second: Done | None = None
    """The next one, under faults that pass."""
    happened: int = 0
    """Kinds of fault that it met."""
    third: Done | None = None
    """One more, without faults."""
    destroy: Done | None = None
    """Under faults that pass."""
    before: list[str] = field(default_factory=list[str])
    after: list[str] = field(default_factory=list[str])


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Life]:
    """Live through it all, and look at what is left."""
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

"""Every stack file through the commands: checked without an account, previewed under the pack.

The stacks that other tests bring up are left out of the previews: an `up` begins with one.
"""

from __future__ import annotations

import pytest

from tests.faults.test_kills_of_other_stacks import KILLED
from tests.stacks.test_life_of_a_stack import STACK
from tests.stacks.test_lives_of_the_family import LIVES
from tests.support.sandbox import Sandbox
from tests.support.stacks import STACKS

pytestmark = pytest.mark.sandbox
BROUGHT_UP = {STACK, *KILLED, *(life.stack for life in LIVES)}
PACK = " trainyard@"


def test_check_accepts_every_stack_file(sandbox: Sandbox) -> None:
    said = sandbox.must("check", *STACKS, "--sandbox").stdout
    assert [line for line in said.splitlines() if line.endswith(": ok")] == [
        f"{stack}: ok" for stack in STACKS
    ]


@pytest.mark.parametrize("stack", sorted(set(STACKS) - BROUGHT_UP))
def test_a_preview_passes_the_policy_pack_and_changes_nothing(sandbox: Sandbox, stack: str) -> None:
    before = sandbox.inventory()
    said = sandbox.must("preview", stack, "--sandbox").said
    assert PACK in said
    assert "[mandatory]" not in said
    assert sandbox.inventory() == before

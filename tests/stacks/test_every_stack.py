"""`check` of every stack file without an account, and one preview with the account."""

from __future__ import annotations

import pytest

from tests.support.sandbox import Sandbox
from tests.support.stacks import STACKS

pytestmark = pytest.mark.sandbox
PREVIEWED = "vpc-one-az"


def test_check_accepts_every_stack_file(sandbox: Sandbox) -> None:
    said = sandbox.must("check", *STACKS, "--sandbox").stdout
    assert [line for line in said.splitlines() if line.endswith(": ok")] == [
        f"{stack}: ok" for stack in STACKS
    ]


def test_a_preview_passes_the_policy_pack_and_changes_nothing(sandbox: Sandbox) -> None:
    before = sandbox.inventory()
    said = sandbox.must("preview", PREVIEWED, "--sandbox").said
    assert " trainyard@" in said
    assert "[mandatory]" not in said
    assert sandbox.inventory() == before

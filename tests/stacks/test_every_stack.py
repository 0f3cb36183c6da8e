"""`check` of every stack file, without an account."""

from __future__ import annotations

import pytest

from tests.support.sandbox import Sandbox
from tests.support.stacks import STACKS

pytestmark = pytest.mark.sandbox


def test_check_accepts_every_stack_file(sandbox: Sandbox) -> None:
    said = sandbox.must("check", *STACKS, "--sandbox").stdout
    assert [line for line in said.splitlines() if line.endswith(": ok")] == [
        f"{stack}: ok" for stack in STACKS
    ]

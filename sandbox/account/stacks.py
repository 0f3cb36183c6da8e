"""The values with which the sandbox's account completes a stack's configuration."""

from __future__ import annotations

from typing import Any

from sandbox.account.fixture import fixture


def completion(stack: str) -> dict[str, Any]:
    """Return what the account knows of a stack's `trainyard:cluster`; empty for an unknown stack.

    What a stack file says itself wins over it: somebody who names another reservation of the
    account wants that one.
    """
    return fixture().get("stacks", {}).get(stack, {})

"""Stacks of CloudFormation."""

from __future__ import annotations

from collections.abc import Iterator

from sandbox.inventory.clients import Clients
from sandbox.inventory.item import Item, tags


def items(clients: Clients) -> Iterator[Item]:
    """Yield the account's stacks, nested ones too; a stack that is gone is described no more."""
    for stack in clients.every("cloudformation", "describe_stacks", "Stacks"):
        if stack["StackStatus"] == "DELETE_COMPLETE":
            continue
        details = {
            "description": stack.get("Description"),
            "failed": _has_failed(stack["StackStatus"]) or None,
            "parent": _name(stack.get("ParentId", "")),
            "tags": tags(stack.get("Tags")),
        }
        yield Item("cloudformation:stack", stack["StackName"], details)


def _has_failed(status: str) -> bool:
    """Tell whether a stack is not what its template says, or never was."""
    return status.startswith("ROLLBACK_") or status.endswith("_FAILED")


def _name(stack_id: str) -> str:
    """Return the name in a stack's ARN; the rest of it is made up."""
    return stack_id.partition(":stack/")[2].partition("/")[0]

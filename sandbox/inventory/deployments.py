"""Stacks of CloudFormation."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.sandbox.inventory.clients import Clients
from trainyard.sandbox.inventory.item import Item, tags


def items(clients: Clients) -> Iterator[Item]:
    """Yield the account's stacks, including nested ones; deleted stacks are omitted."""
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
    """Return whether a stack failed to be created or updated."""
    return status.startswith("ROLLBACK_") or status.endswith("_FAILED")


def _name(stack_id: str) -> str:
    """Return the name in a stack's ARN; the rest is random."""
    return stack_id.partition(":stack/")[2].partition("/")[0]

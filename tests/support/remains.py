"""Objects that `destroy` leaves in the account, and whether it names them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tests.support.kills.inventories import difference, normalised
from tests.support.sandbox import Sandbox

_ID = re.compile(r"\b[a-z]+-[0-9a-f]{17}\b")
"""An id of EC2, FSx or EFS."""
_LISTED = re.compile(r"protected(?: resources)?:$|ParallelCluster has kept .*:$", re.MULTILINE)
"""The words of `destroy` before the list of retained objects."""


def remains(before: list[str], after: list[str]) -> list[str]:
    """Return the lines that an account has gained (`+`) or lost (`-`), without generated ids."""
    return difference(normalised(before, before), normalised(after, before))


def untold(before: list[str], after: list[str], answer: str) -> list[str]:
    """Return the lines of objects that are new to an inventory and that `destroy` did not list.

    A part of a listed object (an interface of a file system, a rule of its security group) has the
    id of that object in its line, and counts as listed.

    Args:
        before: The inventory before the stack.
        after: The inventory without it.
        answer: What `destroy` wrote to its standard output.
    """
    known, listed = set(_ids(before)), _LISTED.search(answer)
    said = answer[listed.end() :] if listed else ""
    kept = [line for line in after if line not in before and line.split()[1] not in known]
    return [
        line
        for line in kept
        if not any(each in said for each in (line.split()[1], *_new_ids(line, known)))
    ]


def removed_by_hand(sandbox: Sandbox, before: list[str]) -> None:
    """Restore the account to its previous content, without the protected objects."""
    if sandbox.inventory() != before:
        sandbox.must("sandbox", "reset")
        sandbox.must("sandbox", "start")
    assert sandbox.inventory() == before


def _new_ids(line: str, known: set[str]) -> set[str]:
    return {*_ids([line])} - known


def _ids(inventory: Iterable[str]) -> Iterator[str]:
    for line in inventory:
        yield line.split()[1]
        yield from _ID.findall(line)

"""Objects that `destroy` leaves in the account, and whether it names them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

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


_MADE_UP = re.compile(
    r"""
      [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}  # a UUID
    | (?<=-)[0-9a-f]{17}\b                       # an id of EC2
    | (?<=-)[0-9a-f]{8}-[0-9a-f]{3}\b            # the end of a name of a nested stack
    | (?<=-)[0-9a-f]{7,8}(?![0-9a-z])            # the end of a name that Pulumi or we made unique
    | (?<=SecurityGroup-)[0-9a-f]{12}\b          # the end of a name that CloudFormation made unique
    | (?<=-)[0-9a-f]{26}\b                       # the end of a name that the provider made unique
    | (?<=[a-z]:)[0-9]+(?=[ ]type=)              # a revision of a job definition: AWS counts on
    | (?<=/id/)[0-9A-F]{32}                      # an issuer of tokens
    | (?<=[ ]address=)[0-9]+(\.[0-9]+){3}         # an Elastic IP
    | (?<=-)[0-9]{6,}                            # the end of a name that AWS made unique
    """,
    re.VERBOSE,
)


def normalised(inventory: Iterable[str], before: Iterable[str]) -> list[str]:
    """Return a sorted inventory with `*` for every generated id and name.

    Objects that existed before keep their ids.
    """
    known = {match.group() for line in before for match in _MADE_UP.finditer(line)}

    def starred(match: re.Match[str]) -> str:
        return match.group() if match.group() in known else "*"

    return sorted(_MADE_UP.sub(starred, line) for line in inventory)


def difference(one: list[str], other: list[str]) -> list[str]:
    """Return the lines that occur more often in one list, with the prefix `-` or `+`."""
    lines = []
    for line in sorted({*one, *other}):
        more = other.count(line) - one.count(line)
        lines += ["+ " + line] * more + ["- " + line] * -more
    return lines

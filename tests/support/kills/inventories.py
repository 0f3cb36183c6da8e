"""Inventories without the values that differ between runs."""

from __future__ import annotations

import re
from collections.abc import Iterable

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

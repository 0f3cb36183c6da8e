"""The parts of an ARN.

https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ARN = re.compile(
    r"arn:(?P<partition>[a-z0-9-]+):(?P<service>[a-z0-9-]+):(?P<region>[a-z0-9-]*)"
    r":(?P<account>[^:]*):(?:(?P<kind>[^:/]+)[:/])?(?P<identifier>.+)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arn:
    """An ARN."""

    partition: str
    service: str
    region: str
    """Empty for a global object."""
    account: str
    """Empty for an object without one, such as a bucket."""
    kind: str
    """Type of the object; empty if the ARN has only its name, as that of a topic."""
    identifier: str
    """The rest: name or id, in some services after the names of parents."""


def arn_of(text: str) -> Arn | None:
    """Return the parts of an ARN; None if the text is none."""
    found = _ARN.fullmatch(text)
    if found is None:
        return None
    return Arn(**{name: value or "" for name, value in found.groupdict().items()})

"""EFS file systems have a name.

Why:
    Nobody finds a file system without a name.
Fix:
    Set the tag Name.
Source:
    https://docs.aws.amazon.com/efs/latest/ug/manage-fs-tags.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.props import Facts
from trainyard.policies.rule import Config, resource_rule


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    if "Name" not in (facts.get("tags") or {}):
        yield "it has no name; set the tag Name"


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.LOW,
    tags=["baseline"],
    types=["aws:efs/fileSystem:FileSystem"],
    check=_check,
)

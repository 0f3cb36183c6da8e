"""Account checks of the EFS access points that a stack file names.

Source: https://docs.aws.amazon.com/efs/latest/ug/API_AccessPointDescription.html
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.named_facts import AccessPointFacts
from trainyard.components.checks.noun import NamedContext
from trainyard.components.config.efs import ExistingEfs
from trainyard.components.config.named import Named
from trainyard.components.config.problems import ROOT, Problem

AVAILABLE = "available"


def access_point_problems(
    use: Named, found: AccessPointFacts | None, context: NamedContext
) -> Iterator[Problem]:
    """Yield why nodes would not mount the file system through the access point."""
    path, owner = f"{ROOT}.{use.key}", use.owner
    wanted = owner.file_system_id if isinstance(owner, ExistingEfs) else ""
    if found is None:
        yield Problem(
            path=path,
            found=use.name,
            problem="this access point does not exist in this account and region",
            remedy=f"copy an id (`aws efs describe-access-points --file-system-id {wanted}`)",
        )
    elif found.file_system_id != wanted:
        yield Problem(
            path=path,
            found=f"{use.name}, of {found.file_system_id}",
            problem=f"this access point is of another file system than {wanted}",
            allowed=f"an access point of {wanted}",
            remedy="give an access point of the file system, or the other file_system_id",
        )
    elif found.state != AVAILABLE:
        yield Problem(
            path=path,
            found=f"{use.name}, {found.state}",
            problem="nothing mounts through an access point in this state",
            allowed="an access point that is available",
            remedy="wait until it is available, or give another",
        )

"""Read EFS file systems and their mount targets.

Source: https://docs.aws.amazon.com/efs/latest/ug/API_DescribeMountTargets.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.components.account.facts import EfsFacts, MountTargetFacts
from trainyard.components.account.lookup import AccountReader
from trainyard.components.account.security_group_rules import ingress_of


def described_efs(reader: AccountReader, file_system_id: str) -> EfsFacts | None:
    """Return an EFS file system with its mount targets, or None if it does not exist."""
    answer = reader.ask(
        "elasticfilesystem:DescribeFileSystems",
        reader.client("efs").describe_file_systems,
        FileSystemId=file_system_id,
    )
    return efs_facts(reader, file_system_id) if (answer or {}).get("FileSystems") else None


def efs_facts(reader: AccountReader, file_system_id: str) -> EfsFacts:
    """Return an existing EFS file system with its mount targets."""
    targets = reader.ask(
        "elasticfilesystem:DescribeMountTargets",
        reader.client("efs").describe_mount_targets,
        FileSystemId=file_system_id,
    )
    return EfsFacts(
        file_system_id=file_system_id,
        targets=tuple(
            found
            for target in (targets or {}).get("MountTargets", [])
            if (found := _target(reader, target)) is not None
        ),
    )


def _target(reader: AccountReader, target: Mapping[str, Any]) -> MountTargetFacts | None:
    """Return a mount target, or None while it is created or deleted."""
    answer = reader.ask(
        "elasticfilesystem:DescribeMountTargetSecurityGroups",
        reader.client("efs").describe_mount_target_security_groups,
        if_denied={},
        MountTargetId=target["MountTargetId"],
    )
    if answer is None:
        reader.leave_out(
            f"mount target {target['MountTargetId']} of {target['FileSystemId']}",
            f"it is {target['LifeCycleState']}, and EFS shows no security groups of it; try again "
            "when it is available",
        )
        return None
    groups = frozenset(answer.get("SecurityGroups", []))
    return MountTargetFacts(
        vpc_id=target.get("VpcId", ""),
        availability_zone=target.get("AvailabilityZoneName", ""),
        security_group_ids=groups,
        lets_in=ingress_of(reader, groups),
    )

"""Read EFS file systems and their mount targets.

Source: https://docs.aws.amazon.com/efs/latest/ug/API_DescribeMountTargets.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from components.account.facts import EfsFacts, MountTargetFacts
from components.account.lookup import AccountReader
from components.account.security_group_rules import ingress_of


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
            _target(reader, target) for target in (targets or {}).get("MountTargets", [])
        ),
    )


def _target(reader: AccountReader, target: Mapping[str, Any]) -> MountTargetFacts:
    answer = reader.ask(
        "elasticfilesystem:DescribeMountTargetSecurityGroups",
        reader.client("efs").describe_mount_target_security_groups,
        MountTargetId=target["MountTargetId"],
    )
    groups = frozenset((answer or {}).get("SecurityGroups", []))
    return MountTargetFacts(
        vpc_id=target.get("VpcId", ""),
        availability_zone=target.get("AvailabilityZoneName", ""),
        security_group_ids=groups,
        lets_in=ingress_of(reader, groups),
    )

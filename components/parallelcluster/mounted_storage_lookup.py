"""Read the existing file systems and volumes that a ParallelCluster stack mounts.

Sources: https://docs.aws.amazon.com/efs/latest/ug/API_DescribeMountTargets.html,
https://docs.aws.amazon.com/fsx/latest/APIReference/API_DescribeVolumes.html and
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeVolumes.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from components.account.facts import EfsFacts, FileSystemFacts, MountTargetFacts, VolumeFacts
from components.account.file_system_lookup import described_file_systems
from components.account.lookup import AccountReader
from components.account.security_group_rules import ingress_of
from components.config.efs import ExistingEfs
from components.config.open_zfs import ExistingFsxOpenZfs
from components.config.shared_ebs import ExistingSharedEbs
from components.config.stack import StackConfig


def look_up_efs(reader: AccountReader, config: StackConfig) -> dict[str, EfsFacts]:
    """Return the existing EFS file systems in the stack file, by id."""
    named = {s.file_system_id for s in config.storage.values() if isinstance(s, ExistingEfs)}
    found = {file_system_id: _efs(reader, file_system_id) for file_system_id in sorted(named)}
    return {file_system_id: facts for file_system_id, facts in found.items() if facts is not None}


def look_up_open_zfs(reader: AccountReader, config: StackConfig) -> dict[str, FileSystemFacts]:
    """Return the file systems of the OpenZFS volumes in the stack file, by volume id."""
    named = {s.volume_id for s in config.storage.values() if isinstance(s, ExistingFsxOpenZfs)}
    found: dict[str, FileSystemFacts] = {}
    for volume_id in sorted(named):
        answer = reader.ask(
            "fsx:DescribeVolumes", reader.fsx.describe_volumes, VolumeIds=[volume_id]
        )
        for volume in (answer or {}).get("Volumes", []):
            for system in described_file_systems(reader, [volume["FileSystemId"]]):
                found[volume_id] = system
    return found


def look_up_volumes(reader: AccountReader, config: StackConfig) -> dict[str, VolumeFacts]:
    """Return the existing EBS volumes in the stack file, by id."""
    named = {s.volume_id for s in config.storage.values() if isinstance(s, ExistingSharedEbs)}
    found: dict[str, VolumeFacts] = {}
    for volume_id in sorted(named):
        answer = reader.ask(
            "ec2:DescribeVolumes", reader.ec2.describe_volumes, VolumeIds=[volume_id]
        )
        for volume in (answer or {}).get("Volumes", []):
            found[volume_id] = VolumeFacts(
                volume_id=volume_id,
                state=volume["State"],
                availability_zone=volume["AvailabilityZone"],
                attached_to=_instance(volume),
            )
    return found


def _instance(volume: Mapping[str, Any]) -> str | None:
    attached = volume.get("Attachments") or []
    return attached[0].get("InstanceId") if attached else None


def _efs(reader: AccountReader, file_system_id: str) -> EfsFacts | None:
    efs = reader.client("efs")
    answer = reader.ask(
        "elasticfilesystem:DescribeFileSystems",
        efs.describe_file_systems,
        FileSystemId=file_system_id,
    )
    systems = (answer or {}).get("FileSystems", [])
    if not systems:
        return None
    targets = reader.ask(
        "elasticfilesystem:DescribeMountTargets",
        efs.describe_mount_targets,
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

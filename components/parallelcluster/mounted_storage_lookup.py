"""Read the existing file systems and volumes that a ParallelCluster stack mounts.

Sources: https://docs.aws.amazon.com/fsx/latest/APIReference/API_DescribeVolumes.html and
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeVolumes.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.components.account.facts import EfsFacts, FileSystemFacts
from trainyard.components.account.file_system_lookup import described_file_systems
from trainyard.components.account.lookup import AccountReader
from trainyard.components.account.mount_target_lookup import described_efs
from trainyard.components.account.named_facts import VolumeFacts
from trainyard.components.config.efs import ExistingEfs
from trainyard.components.config.open_zfs import ExistingFsxOpenZfs
from trainyard.components.config.shared_ebs import ExistingSharedEbs
from trainyard.components.config.stack import StackConfig


def look_up_efs(reader: AccountReader, config: StackConfig) -> dict[str, EfsFacts]:
    """Return the existing EFS file systems in the stack file, by id."""
    named = {s.file_system_id for s in config.storage.values() if isinstance(s, ExistingEfs)}
    found = {each: described_efs(reader, each) for each in sorted(named)}
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

"""Read the deployed cluster of a stack, and the storage that it mounts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from trainyard.components.account.facts import KeyPairFacts
from trainyard.components.account.reader import AccountReader
from trainyard.components.config.stack import StackConfig
from trainyard.components.config.storage import ExistingEfs, ExistingFsxOpenZfs, ExistingSharedEbs
from trainyard.components.named.lookup import none_without_stack
from trainyard.components.parallelcluster.cluster_template import CLUSTER
from trainyard.components.storage.facts import EfsFacts, FileSystemFacts, VolumeFacts
from trainyard.components.storage.lookup import described_efs, described_file_systems
from trainyard.components.tagging import tag_map

# Read a deployed ParallelCluster: configuration, key pair and fleet status.
#
# Sources:
#     https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
#     and API_GetTemplate.html
#     https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/models/compute_fleet_status_manager.py


# Statuses of stacks with a cluster. A failed creation has no cluster to compare with.
_DEPLOYED = frozenset(
    {
        "CREATE_COMPLETE",
        "UPDATE_IN_PROGRESS",
        "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
        "UPDATE_COMPLETE",
        "UPDATE_FAILED",
        "UPDATE_ROLLBACK_IN_PROGRESS",
        "UPDATE_ROLLBACK_FAILED",
        "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
        "UPDATE_ROLLBACK_COMPLETE",
    }
)
# DynamoDB table of a cluster, and the item with the fleet status.
_TABLE = "parallelcluster-slurm-{}"
_FLEET = "COMPUTE_FLEET"


def look_up_deployed(reader: AccountReader, stack_name: str) -> Mapping[str, Any] | None:
    """Return the configuration of the cluster in a CloudFormation stack of this program.

    Args:
        reader: The account.
        stack_name: Name of the outer stack, not that of the cluster's own stack.

    Returns:
        None if the stack does not exist, failed to be created, or cannot be read.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    stacks = _answer(reader, "DescribeStacks", StackName=stack_name)
    if not stacks or stacks["Stacks"][0]["StackStatus"] not in _DEPLOYED:
        return None
    answer = _answer(reader, "GetTemplate", StackName=stack_name)
    # The template is JSON, which boto3 parses.
    template = (answer or {}).get("TemplateBody")
    if not isinstance(template, Mapping):
        return None
    resources = cast("Mapping[str, Any]", template).get("Resources", {})
    return resources.get(CLUSTER, {}).get("Properties", {}).get("ClusterConfiguration")


def look_up_deployed_key(reader: AccountReader, deployed: Mapping[str, Any]) -> KeyPairFacts | None:
    """Return the key pair with which the head node of a cluster was created.

    Returns:
        None without a key pair, or if it was deleted or cannot be read.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    key_name = deployed.get("HeadNode", {}).get("Ssh", {}).get("KeyName")
    if not key_name:
        return None
    answer = reader.ask(
        "ec2:DescribeKeyPairs",
        reader.client("ec2").describe_key_pairs,
        KeyNames=[key_name],
        IncludePublicKey=True,
    )
    for found in (answer or {}).get("KeyPairs", []):
        return KeyPairFacts(
            name=key_name,
            public_key=found.get("PublicKey", ""),
            tags=tag_map(found.get("Tags")),
        )
    return None


def look_up_fleet_stopped(reader: AccountReader, cluster_name: str) -> bool:
    """Return whether the compute fleet was stopped, from the source that ParallelCluster uses.

    If the status cannot be read, the fleet counts as running.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    answer = reader.ask(
        "dynamodb:GetItem",
        reader.client("dynamodb").get_item,
        TableName=_TABLE.format(cluster_name),
        Key={"Id": {"S": _FLEET}},
        ConsistentRead=True,
    )
    data = ((answer or {}).get("Item") or {}).get("Data") or {}
    return data.get("M", {}).get("status", {}).get("S") == "STOPPED"


_CALLS = {"DescribeStacks": "describe_stacks", "GetTemplate": "get_template"}


def _answer(reader: AccountReader, call: str, **arguments: Any) -> Any:
    do = getattr(reader.client("cloudformation"), _CALLS[call])
    return reader.ask(f"cloudformation:{call}", none_without_stack(do), **arguments)


# Read the existing file systems and volumes that a ParallelCluster stack mounts.
#
# Sources: https://docs.aws.amazon.com/fsx/latest/APIReference/API_DescribeVolumes.html and
# https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeVolumes.html


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
                found[volume_id] = replace(
                    system,
                    volume_lifecycle=volume.get("Lifecycle", "AVAILABLE"),
                    exported_to=_clients(volume),
                )
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


def _clients(volume: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return who may mount an OpenZFS volume; None of a volume that does not show it.

    https://docs.aws.amazon.com/fsx/latest/APIReference/API_OpenZFSNfsExport.html
    """
    exports = volume.get("OpenZFSConfiguration", {}).get("NfsExports")
    if exports is None:
        return None
    clients = (each for one in exports for each in one.get("ClientConfigurations", []))
    return tuple(each["Clients"] for each in clients)


def _instance(volume: Mapping[str, Any]) -> str | None:
    attached = volume.get("Attachments") or []
    return attached[0].get("InstanceId") if attached else None

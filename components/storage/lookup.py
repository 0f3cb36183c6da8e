"""Read file systems of FSx and EFS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from trainyard.components.account.reader import AccountReader, readable
from trainyard.components.config.fsx_lustre import NewFsxLustre, adopted_or_existing
from trainyard.components.config.stack import StackConfig
from trainyard.components.network.lookup import ingress_of, look_up_subnets
from trainyard.components.storage.facts import EfsFacts, FileSystemFacts, MountTargetFacts
from trainyard.components.tagging import CLUSTER_TAG, tag_map

_NONE = (None, "", "NONE")


def look_up_file_systems(
    reader: AccountReader, config: StackConfig, *, places_file_systems: bool
) -> dict[str, FileSystemFacts]:
    """Return the file systems that the stack file names or the stack created, by id.

    Without Lustre in the stack file there is no call, so that the permission is not needed. File
    systems of ParallelCluster are compared through the deployed cluster instead.
    """
    systems = config.storage.values()
    references = map(adopted_or_existing, systems)
    named = {each.file_system_id for each in references if each is not None}
    found = [answer for each in sorted(named) for answer in _described(reader, [each])]
    if places_file_systems and any(isinstance(system, NewFsxLustre) for system in systems):
        found += [
            answer
            for answer in _described(reader, None)
            if tag_map(answer.get("Tags")).get(CLUSTER_TAG) == config.name
        ]
    return {answer["FileSystemId"]: _facts(reader, answer) for answer in found}


def described_file_systems(reader: AccountReader, ids: list[str]) -> list[FileSystemFacts]:
    """Return the FSx file systems that exist."""
    return [_facts(reader, answer) for answer in _described(reader, ids)]


def every_file_system(reader: AccountReader) -> Iterator[FileSystemFacts]:
    """Yield the FSx file systems of the region, without those that lack a value."""
    found = _described(reader, None)
    yield from readable(reader, "file system", "FileSystemId", found, partial(_facts, reader))


def _described(reader: AccountReader, ids: list[str] | None) -> list[dict[str, Any]]:
    # https://docs.aws.amazon.com/fsx/latest/APIReference/API_DescribeFileSystems.html: one missing
    # id fails the whole call.
    arguments: dict[str, Any] = {"FileSystemIds": ids} if ids else {}
    do = reader.fsx.describe_file_systems
    pages = reader.pages("fsx:DescribeFileSystems", do, next_key="NextToken", **arguments)
    return [found for answer in pages for found in answer.get("FileSystems", [])]


def _facts(reader: AccountReader, answer: Mapping[str, Any]) -> FileSystemFacts:
    lustre: Mapping[str, Any] = answer.get("LustreConfiguration") or {}
    subnet_id = next(iter(answer.get("SubnetIds", [])), "")
    subnet = look_up_subnets(reader, [subnet_id]).get(subnet_id)
    groups = _security_groups(reader, answer.get("NetworkInterfaceIds", []))
    return FileSystemFacts(
        file_system_id=answer["FileSystemId"],
        type=answer["FileSystemType"],
        lifecycle=answer.get("Lifecycle", ""),
        vpc_id=answer.get("VpcId", ""),
        subnet_id=subnet_id,
        availability_zone=subnet.availability_zone if subnet else "",
        dns_name=answer.get("DNSName", ""),
        mount_name=lustre.get("MountName", ""),
        capacity_gib=answer.get("StorageCapacity", 0),
        settings=_fixed_settings(answer, lustre),
        tags=tag_map(answer.get("Tags")),
        security_group_ids=groups,
        lets_in=ingress_of(reader, groups),
        version=answer.get("FileSystemTypeVersion", ""),
        root_squash=(lustre.get("RootSquashConfiguration") or {}).get("RootSquash", ""),
    )


def _fixed_settings(answer: Mapping[str, Any], lustre: Mapping[str, Any]) -> dict[str, object]:
    """Return the settings whose change replaces a file system, by key in the stack file."""
    s3: Mapping[str, Any] = lustre.get("DataRepositoryConfiguration") or {}
    cache = lustre.get("DriveCacheType")
    return {
        "deployment_type": lustre.get("DeploymentType"),
        "storage_type": answer.get("StorageType", "SSD"),
        "drive_cache": None if cache in _NONE else cache,
        "kms_key_arn": answer.get("KmsKeyId"),
        "efa_enabled": bool(lustre.get("EfaEnabled")),
        "import_path": s3.get("ImportPath"),
        "export_path": s3.get("ExportPath"),
        "metadata_iops": (lustre.get("MetadataConfiguration") or {}).get("Iops"),
    }


def _security_groups(reader: AccountReader, interface_ids: Iterable[str]) -> frozenset[str]:
    """Return the security groups of the interfaces, which the FSx API does not return."""
    wanted = sorted(interface_ids)
    if not wanted:
        return frozenset()
    answer = reader.ask(
        "ec2:DescribeNetworkInterfaces",
        reader.ec2.describe_network_interfaces,
        Filters=[{"Name": "network-interface-id", "Values": wanted}],
    )
    interfaces = (answer or {}).get("NetworkInterfaces", [])
    return frozenset(group["GroupId"] for each in interfaces for group in each.get("Groups", []))


# Read EFS file systems and their mount targets.
#
# Source: https://docs.aws.amazon.com/efs/latest/ug/API_DescribeMountTargets.html


def described_efs(reader: AccountReader, file_system_id: str) -> EfsFacts | None:
    """Return an EFS file system with its mount targets, or None if it does not exist."""
    answer = reader.ask(
        "elasticfilesystem:DescribeFileSystems",
        reader.client("efs").describe_file_systems,
        FileSystemId=file_system_id,
    )
    found = next(iter((answer or {}).get("FileSystems", [])), None)
    if found is None:
        return None
    return efs_facts(reader, file_system_id, found.get("LifeCycleState", "available"))


def efs_facts(reader: AccountReader, file_system_id: str, lifecycle: str = "available") -> EfsFacts:
    """Return an existing EFS file system with its mount targets."""
    targets = reader.ask(
        "elasticfilesystem:DescribeMountTargets",
        reader.client("efs").describe_mount_targets,
        FileSystemId=file_system_id,
    )
    return EfsFacts(
        file_system_id=file_system_id,
        lifecycle=lifecycle,
        targets=tuple(
            found
            for target in (targets or {}).get("MountTargets", [])
            if (found := _target(reader, target)) is not None
        ),
    )


_GONE = ("deleting", "deleted", "error")
"""https://docs.aws.amazon.com/efs/latest/ug/API_MountTargetDescription.html, `LifeCycleState`"""


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
    if target.get("LifeCycleState") in _GONE:
        reader.leave_out(
            f"mount target {target['MountTargetId']} of {target['FileSystemId']}",
            f"it is {target['LifeCycleState']}, and no node mounts through it",
        )
        return None
    groups = frozenset(answer.get("SecurityGroups", []))
    return MountTargetFacts(
        vpc_id=target.get("VpcId", ""),
        availability_zone=target.get("AvailabilityZoneName", ""),
        security_group_ids=groups,
        lets_in=ingress_of(reader, groups),
    )

"""The shared storage of a cluster."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.sandbox.parallelcluster.provider import model
from trainyard.sandbox.parallelcluster.provider.account import Clients
from trainyard.sandbox.parallelcluster.provider.machines import Groups, make_storage_group
from trainyard.sandbox.parallelcluster.provider.model import Cluster, SharedStorage

_POLL_SECONDS = 0.1
_TIMEOUT_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Made:
    """Existing storage of a cluster."""

    kind: str
    name: str
    """Its `Name` tag, which is its name in the configuration."""
    identifier: str
    groups: tuple[str, ...]
    """Security groups that it uses."""


def make_storage(
    clients: Clients, cluster: Cluster, storage: SharedStorage, groups: Groups
) -> None:
    """Create a file system or volume, and return when nodes can mount it."""
    tags = {**cluster.tags, "Name": storage.name}
    if storage.kind == "ebs":
        clients("ec2").create_volume(
            **storage.settings, TagSpecifications=[model.tagged("volume", tags)]
        )
        return
    group_id = make_storage_group(clients, cluster, groups, storage.name)
    maker = _make_lustre if storage.kind == "fsx" else _make_efs
    maker(clients, storage, group_id, tags)


def storage_of(clients: Clients, cluster: str) -> Iterator[Made]:
    """Yield the storage of a cluster, by its tags."""
    ec2, fsx, efs = clients("ec2"), clients("fsx"), clients("efs")
    for each in ec2.describe_volumes(Filters=model.of_cluster(cluster))["Volumes"]:
        tags = _tags(each)
        if model.NODE_TYPE not in tags:  # else a node's root volume
            yield Made("ebs", tags["Name"], each["VolumeId"], ())
    for each in fsx.describe_file_systems()["FileSystems"]:
        tags = _tags(each)
        if tags.get(model.CLUSTER_NAME) == cluster:
            groups = _interface_groups(ec2, each["NetworkInterfaceIds"])
            yield Made("fsx", tags["Name"], each["FileSystemId"], groups)
    for each in efs.describe_file_systems()["FileSystems"]:
        tags = _tags(each)
        if tags.get(model.CLUSTER_NAME) == cluster:
            yield _made_efs(efs, tags["Name"], each["FileSystemId"])


def remove_storage(clients: Clients, cluster: str, *, retained: Collection[str]) -> set[str]:
    """Remove a cluster's storage, and return the security groups of retained storage.

    Args:
        clients: The account.
        cluster: Name of the cluster.
        retained: Names of the storage to keep.
    """
    kept: set[str] = set()
    for each in list(storage_of(clients, cluster)):
        if each.name in retained:
            kept.update(each.groups)
        else:
            _REMOVERS[each.kind](clients, each.identifier)
    return kept


def _make_lustre(
    clients: Clients, storage: SharedStorage, group_id: str, tags: Mapping[str, str]
) -> None:
    fsx = clients("fsx")
    made = fsx.create_file_system(
        **storage.settings,
        SubnetIds=list(storage.subnet_ids),
        SecurityGroupIds=[group_id],
        Tags=model.tag_list(tags),
    )
    identifier = made["FileSystem"]["FileSystemId"]

    def available() -> bool:
        (found,) = fsx.describe_file_systems(FileSystemIds=[identifier])["FileSystems"]
        return found["Lifecycle"] == "AVAILABLE"

    _until(available, f"file system {identifier} to be available")
    for association in storage.associations:
        fsx.create_data_repository_association(FileSystemId=identifier, **association)


def _make_efs(
    clients: Clients, storage: SharedStorage, group_id: str, tags: Mapping[str, str]
) -> None:
    efs = clients("efs")
    made = efs.create_file_system(
        CreationToken=secrets.token_hex(16),
        **storage.settings,
        Tags=model.tag_list(tags),
    )
    for subnet_id in storage.subnet_ids:
        efs.create_mount_target(
            FileSystemId=made["FileSystemId"], SubnetId=subnet_id, SecurityGroups=[group_id]
        )


def _made_efs(efs: Any, name: str, identifier: str) -> Made:
    groups: set[str] = set()
    for target in efs.describe_mount_targets(FileSystemId=identifier)["MountTargets"]:
        described = efs.describe_mount_target_security_groups(MountTargetId=target["MountTargetId"])
        groups.update(described["SecurityGroups"])
    return Made("efs", name, identifier, tuple(sorted(groups)))


def _remove_volume(clients: Clients, identifier: str) -> None:
    clients("ec2").delete_volume(VolumeId=identifier)


def _remove_lustre(clients: Clients, identifier: str) -> None:
    fsx = clients("fsx")
    fsx.delete_file_system(FileSystemId=identifier)

    def gone() -> bool:
        found = fsx.describe_file_systems()["FileSystems"]
        return all(each["FileSystemId"] != identifier for each in found)

    _until(gone, f"file system {identifier} to be gone")


def _remove_efs(clients: Clients, identifier: str) -> None:
    efs = clients("efs")
    targets = efs.describe_mount_targets(FileSystemId=identifier)["MountTargets"]
    for target in targets:
        efs.delete_mount_target(MountTargetId=target["MountTargetId"])

    def unmounted() -> bool:
        return not efs.describe_mount_targets(FileSystemId=identifier)["MountTargets"]

    _until(unmounted, f"mount targets of {identifier} to be gone")
    efs.delete_file_system(FileSystemId=identifier)


_REMOVERS: Mapping[str, Callable[[Clients, str], None]] = {
    "ebs": _remove_volume,
    "fsx": _remove_lustre,
    "efs": _remove_efs,
}


def _interface_groups(ec2: Any, interface_ids: Collection[str]) -> tuple[str, ...]:
    found = ec2.describe_network_interfaces(NetworkInterfaceIds=list(interface_ids))
    return tuple(
        sorted(
            {
                group["GroupId"]
                for interface in found["NetworkInterfaces"]
                for group in interface["Groups"]
            }
        )
    )


def _tags(described: Mapping[str, Any]) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in described.get("Tags") or ()}


def _until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {_TIMEOUT_SECONDS:.0f} s for {what}")
        time.sleep(_POLL_SECONDS)

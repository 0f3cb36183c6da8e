"""The plan and the checks of the shared storage of a ParallelCluster stack."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from trainyard.components.catalog.instance_types import UnknownInstanceTypeError, instance_type
from trainyard.components.catalog.parallelcluster import DEFAULT_USERS, RESERVED_DIRECTORIES
from trainyard.components.config.fsx_lustre import ExistingFsxLustre, NewFsxLustre
from trainyard.components.config.parallelcluster import (
    ComputeResource,
    ParallelClusterStackConfig,
    Queue,
)
from trainyard.components.config.problems import Review
from trainyard.components.config.storage import (
    FileSystem,
    NewEfs,
    NewFsxOpenZfs,
    NewSharedEbs,
)
from trainyard.components.network.network_plan import NetworkPlan
from trainyard.components.parallelcluster.plan import SharedStoragePlan
from trainyard.components.parallelcluster.storage_settings import (
    is_new,
    storage_settings,
    storage_type,
)
from trainyard.components.storage.storage_plan import OpenZfsPlan, given_subnets, plan_open_zfs
from trainyard.components.tagging import common_tags

# Checks of the mount directories of shared storage.
#
# Sources: `SharedStorageMountDirValidator`, `DuplicateMountDirValidator` and
# `OverlappingMountDirValidator` of the package `aws-parallelcluster`, version 3.16.1;
# https://docs.aws.amazon.com/parallelcluster/latest/ug/directories-v3.html for `/home`. In that
# version, the last validator gets names instead of directories and finds no overlaps; this module
# does.


EMPTY = frozenset({"/media", "/mnt", "/srv", "/tmp"})  # noqa: S108 - the same
"""Reserved directories that are empty in the AMI, so disks can be mounted there."""
KERNEL_DIRECTORIES = ("/proc/", "/sys/")
"""https://refspecs.linuxfoundation.org/FHS_3.0/fhs/ch06.html: virtual file systems."""
SYSTEM_DIRECTORIES = (
    *("/bin/", "/boot/", "/dev/", "/etc/", "/lib/", "/lib64/", "/root/", "/run/", "/sbin/"),
    *("/opt/slurm/", "/opt/parallelcluster/", "/opt/intel/", "/usr/", "/var/"),
)
"""Directories with files of the AMI, of Slurm and of ParallelCluster. ParallelCluster allows mounts
below them: https://docs.aws.amazon.com/parallelcluster/latest/ug/directories-v3.html"""
UNUSABLE = "/NONE"
"""ParallelCluster value for no directory."""
HEAD_NODE, HEAD_NODE_SCRATCH = "head_node", "/scratch"
"""Name and mount directory of the head node's local disks."""


def review_mount_directories(config: ParallelClusterStackConfig, review: Review) -> None:
    """Record entries without a directory, and conflicting directories."""
    _review_scratch_directories(config, review)
    mounted: dict[str, str] = {}
    for name, wanted in config.storage.items():
        directory = wanted.mount_directory
        if directory is None:
            _refuse_missing(name, config, review)
            continue
        _review_reserved(name, directory, config, review)
        _review_others(name, directory, mounted, config, review)
        _review_scratch(name, directory, config, review)
        mounted[name] = directory


def _refuse_missing(name: str, config: ParallelClusterStackConfig, review: Review) -> None:
    key = f"storage.{name}.mount_directory"
    review.refuse(
        key,
        "is missing: the directory where every node mounts it",
        allowed="an absolute path, such as /fsx",
        remedy=_moved(name, config, review),
    )


def _review_reserved(
    name: str, directory: str, config: ParallelClusterStackConfig, review: Review
) -> None:
    user = f"/home/{DEFAULT_USERS[config.architecture.operating_system]}"
    if directory in RESERVED_DIRECTORIES or directory == UNUSABLE:
        why = "is a directory that the operating system of the nodes needs"
    elif directory.startswith(KERNEL_DIRECTORIES):
        why = "lies in a file system of the kernel, where no directory can be made"
    elif _overlap(directory, user) and directory != "/home":
        why = f"would hide {user}, which has the SSH keys of the users"
    else:
        _note_hidden(name, directory, review)
        return
    key = f"storage.{name}.mount_directory"
    review.refuse(
        key,
        why,
        found=directory,
        allowed="a separate directory, such as /shared, or /home",
        remedy=_moved(name, config, review),
        rules=("F10",),
    )


def _note_hidden(name: str, directory: str, review: Review) -> None:
    if directory.startswith(SYSTEM_DIRECTORIES):
        review.note(
            f"storage {name}: is mounted in {directory}, which hides what the image has there; "
            "use a directory of its own, such as /shared, unless the directory is new"
        )


def _review_others(
    name: str,
    directory: str,
    mounted: Mapping[str, str],
    config: ParallelClusterStackConfig,
    review: Review,
) -> None:
    for other, theirs in mounted.items():
        if _overlap(directory, theirs):
            same = directory == theirs
            review.refuse(
                f"storage.{name}.mount_directory",
                (
                    f"is {'the same as' if same else 'in conflict with'} that of storage.{other}, "
                    f"{theirs}: one mount would hide the other"
                ),
                found=directory,
                allowed="directories that do not contain one another",
                remedy=_moved(name, config, review),
                rules=("F10",),
            )


def _review_scratch(
    name: str, directory: str, config: ParallelClusterStackConfig, review: Review
) -> None:
    for owner, scratch in _scratch_directories(config):
        if _overlap(directory, scratch):
            review.refuse(
                f"storage.{name}.mount_directory",
                f"conflicts with {scratch}, where {owner} mounts the instance store volumes",
                found=directory,
                allowed=f"a directory outside of {scratch}",
                remedy=_scratch_remedy(owner, name, config, review),
                rules=("F10",),
            )


def _review_scratch_directories(config: ParallelClusterStackConfig, review: Review) -> None:
    """Refuse local disks in directories that nodes need; ParallelCluster does not check this."""
    for owner, scratch in _scratch_directories(config):
        needed = scratch in RESERVED_DIRECTORIES - EMPTY
        if owner != HEAD_NODE and (needed or _overlap(scratch, "/home")):
            key = f"architecture.{owner}.scratch_directory"
            review.refuse(
                key,
                (
                    "is a directory that the operating system of the nodes needs; the instance "
                    "store volumes would hide it"
                ),
                found=scratch,
                allowed="a separate directory, such as /local_scratch",
                remedy=review.set_command(key, SCRATCH),
            )


def _scratch_remedy(
    owner: str, name: str, config: ParallelClusterStackConfig, review: Review
) -> str:
    moved = _moved(name, config, review)
    if owner == HEAD_NODE:
        return moved
    key = f"architecture.{owner}.scratch_directory"
    if dict(_scratch_directories(config))[owner] == SCRATCH:
        return moved
    return f"{review.set_command(key, SCRATCH)}; or {moved}"


def _moved(name: str, config: ParallelClusterStackConfig, review: Review) -> str:
    """Return the command that mounts an entry where nothing else is."""
    own = re.sub(r"[^a-z0-9_-]", "-", name.lower())
    taken = {
        *(each.mount_directory for key, each in config.storage.items() if key != name),
        *(scratch for _, scratch in _scratch_directories(config)),
        *RESERVED_DIRECTORIES,
        config.storage[name].mount_directory,
        "/home",
    } - {None}
    free = (f"/{own}", f"/shared-{own}", *(f"/shared-{own}-{i}" for i in range(2, 99)))
    directory = next(
        each for each in free if not any(_overlap(each, str(other)) for other in taken)
    )
    return review.set_command(f"storage.{name}.mount_directory", directory)


def _scratch_directories(config: ParallelClusterStackConfig) -> Iterator[tuple[str, str]]:
    architecture = config.architecture
    if _has_disks([architecture.head_node.instance_type]):
        yield HEAD_NODE, HEAD_NODE_SCRATCH
    for name, queue in architecture.queues.items():
        if _has_disks(each.instance_type for each in queue.compute_resources.values()):
            yield f"queues.{name}", queue.scratch_directory


def _has_disks(names: Iterable[str]) -> bool:
    return any(_disks(name) for name in names)


def _disks(name: str) -> int:
    try:
        return instance_type(name).local_nvme_disks
    except UnknownInstanceTypeError:
        return 0


def _overlap(one: str, other: str) -> bool:
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")


# Checks that nodes can reach the shared storage.
#
# Source: `ManagedFsxMultiAzValidator`, `MultiAzEbsVolumeValidator` and `add_managed_fsx` of the
# package `aws-parallelcluster`, version 3.16.1: it creates FSx for Lustre in the common subnet of
# all queues, and EBS volumes in the zone of the head node.


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedStoragePlace:
    """The surroundings of the shared storage of a cluster."""

    network: NetworkPlan
    queue_subnets: tuple[str, ...]
    """Subnet references of all queues; candidates if only the account knows them."""
    head_subnets: tuple[str, ...]
    subnets_known: bool
    """Whether the account was queried, so that unknown values stay unknown."""


def review_places(
    config: ParallelClusterStackConfig, place: SharedStoragePlace, review: Review
) -> None:
    """Record storage that ParallelCluster cannot create or nodes cannot reach."""
    for name, wanted in config.storage.items():
        if _is_in_a_vpc(wanted) and not place.network.exists:
            _refuse_new_vpc(name, wanted.kind, review)
        if isinstance(wanted, NewFsxLustre):
            _review_place_of_lustre(name, config, place, review)
        if isinstance(wanted, NewFsxLustre | NewEfs) and not place.network.exists:
            _review_protection(name, protected=wanted.deletion_protection, review=review)
        if wanted.kind.endswith("ebs"):
            _note_other_zones(name, place, review)


def _is_in_a_vpc(wanted: FileSystem) -> bool:
    """Return whether it is a file system that exists, in a VPC; volumes are in none."""
    return not is_new(wanted) and storage_type(wanted) != "Ebs"


def _refuse_new_vpc(name: str, kind: str, review: Review) -> None:
    review.refuse(
        f"storage.{name}.kind",
        "is an existing file system, which cannot be in a new VPC",
        found=kind,
        allowed=f"{kind.removeprefix('existing-')}, or network.kind: existing-vpc",
        remedy=(
            "use the VPC of the file system with network.kind: existing-vpc, or create a new file "
            "system"
        ),
    )


def _review_protection(name: str, *, protected: bool, review: Review) -> None:
    if not protected:
        return
    key = f"storage.{name}.deletion_protection"
    review.refuse(
        key,
        (
            "keeps a file system in a VPC that `destroy` deletes: AWS does not delete a subnet "
            "with a file system, so `destroy` would fail halfway"
        ),
        found=True,
        allowed="false with network.kind: new-vpc",
        remedy=(
            f"{review.set_command(key, 'false')}, and its data is deleted with the cluster; or use "
            "a VPC outside of the stack, with network.kind: existing-vpc"
        ),
    )


def _review_place_of_lustre(
    name: str, config: ParallelClusterStackConfig, place: SharedStoragePlace, review: Review
) -> None:
    if len(place.queue_subnets) < 2:
        return
    if not place.subnets_known and not _spread(config, place.network):
        review.note(
            f"storage {name}: ParallelCluster creates it in the subnet of the queues, which can "
            "only be read from the account"
        )
        return
    first = next(iter(config.architecture.queues))
    review.refuse(
        f"storage.{name}.kind",
        "is created by ParallelCluster, which then requires the same subnet for all queues; these "
        "are in " + ", ".join(place.queue_subnets),
        found="fsx-lustre",
        allowed="queues in one subnet, or existing-fsx-lustre",
        remedy=(
            "use the same subnet for every queue, as in "
            f"architecture.queues.{first}.availability_zone or subnet_ids; or create the file "
            "system in a separate stack, and mount it as kind: existing-fsx-lustre"
        ),
        rules=("F8",),
    )


def _spread(config: ParallelClusterStackConfig, network: NetworkPlan) -> bool:
    """Return whether the stack file places queues in several subnets."""
    queues = config.architecture.queues.values()
    given = {subnet for queue in queues for subnet in queue.subnet_ids}
    several = len(network.private_subnets) > 1
    return len(given) > 1 or (several and any(_goes_anywhere(q, config) for q in queues))


def _goes_anywhere(queue: Queue, config: ParallelClusterStackConfig) -> bool:
    bought = [queue.purchase_option, *(r.purchase_option for r in _resources(queue))]
    return not (
        queue.subnet_ids
        or queue.availability_zone
        or any(option in config.reservations for option in bought)
        or any(resource.efa_enabled for resource in _resources(queue))
    )


def _resources(queue: Queue) -> tuple[ComputeResource, ...]:
    return tuple(queue.compute_resources.values())


def _note_other_zones(name: str, place: SharedStoragePlace, review: Review) -> None:
    head = _zones(place.head_subnets, place.network)
    others = _zones(place.queue_subnets, place.network) - head
    if len(head) == 1 and others:
        review.note(
            f"storage {name}: the volume is in {head.pop()} with the head node; traffic from nodes "
            f"in {', '.join(sorted(others))} is slower, and AWS charges for it"
        )


def _zones(subnets: Sequence[str], network: NetworkPlan) -> set[str]:
    known = {subnet.name: subnet.availability_zone for subnet in network.subnets}
    return {zone for zone in map(known.get, subnets) if zone}


# Checks of shared storage against the limits of ParallelCluster.
#
# Sources, all of the package `aws-parallelcluster`, version 3.16.1: `SharedStorageNameValidator`
# and `NumberOfStorageValidator` in `validators/cluster_validators.py`, the counts in
# `constants.py`, `FsxLustreSettingsSchema` in `schemas/cluster_schema.py`; and
# https://docs.aws.amazon.com/parallelcluster/latest/ug/shared-storage-quotas-v3.html.


LONGEST_NAME = 30
SCRATCH = "/local_scratch"
"""A directory for local disks that nothing else uses."""
FORBIDDEN_NAME = "default"
BUSY_EBS_NODES = 100
"""Number of nodes from which ParallelCluster warns about EBS volumes shared by the head node."""
_EXISTING_LUSTRE_ID = re.compile(r"fs-[0-9a-f]{17}")

_OWN_STACK = (
    "create it in a separate stack, and mount it here as kind: existing-fsx-lustre; or remove it"
)
_REMOVE = "remove"
_BY_ITSELF = ("ParallelCluster reads it from the account itself", _REMOVE)
_IN_QUEUES = ("ParallelCluster creates the file system in the subnet of the queues", _REMOVE)
_NOT_OF_NEW: Mapping[str, tuple[str, str]] = {
    "efa_enabled": ("ParallelCluster does not create file systems with EFA", _OWN_STACK),
    "metadata_iops": ("ParallelCluster does not provision metadata IOPS", _OWN_STACK),
    "subnet_id": _IN_QUEUES,
    "availability_zone": _IN_QUEUES,
    "adopt": (
        "ParallelCluster creates its file systems itself, and takes over none",
        "mount it as kind: existing-fsx-lustre, which keeps it when the cluster is deleted",
    ),
}
"""Unsupported keys of a new FSx for Lustre file system: the reason and the remedy."""
_NOT_OF_EXISTING: Mapping[str, tuple[str, str]] = {
    "security_group_id": (
        (
            "ParallelCluster creates the security groups of the nodes itself, after it has "
            "checked that the file system allows their subnets"
        ),
        "allow the subnets of the cluster on TCP 988 and 1018-1023, and remove it",
    ),
    "dns_name": _BY_ITSELF,
    "mount_name": _BY_ITSELF,
    "storage_capacity_gib": _BY_ITSELF,
}
"""The same for an existing file system."""


@dataclass(frozen=True, slots=True)
class _Limit:
    what: str
    most: int
    counts: Callable[[FileSystem], bool]
    remedy: str


def _is_raid(wanted: FileSystem) -> bool:
    return isinstance(wanted, NewSharedEbs) and wanted.raid is not None


_LIMITS = (
    _Limit(
        "new FSx for Lustre file system",
        1,
        lambda wanted: isinstance(wanted, NewFsxLustre),
        "create the others in a separate stack, and mount them as kind: existing-fsx-lustre",
    ),
    _Limit(
        "new EFS file system",
        1,
        lambda wanted: wanted.kind == "efs",
        "mount the others as kind: existing-efs",
    ),
    _Limit("RAID of EBS volumes", 1, _is_raid, "remove raid from the others"),
    _Limit(
        "EBS volumes without RAID",
        5,
        lambda wanted: wanted.kind.endswith("ebs") and not _is_raid(wanted),
        "combine them with a larger size_gib, or use EFS or FSx",
    ),
    _Limit(
        "existing FSx file systems, including every OpenZFS volume",
        20,
        lambda wanted: wanted.kind == "existing-fsx-lustre" or wanted.kind.endswith("openzfs"),
        "remove some",
    ),
    _Limit(
        "existing EFS file systems", 20, lambda wanted: wanted.kind == "existing-efs", "remove some"
    ),
)


def review_storage(config: ParallelClusterStackConfig, review: Review) -> None:
    """Record problems of single entries and of all entries together."""
    for name, wanted in config.storage.items():
        _review_name(name, review)
        _review_lustre(name, wanted, review)
    _review_counts(config, review)
    _review_ids(config, review)
    _note_busy_head_node(config, review)


def _review_name(name: str, review: Review) -> None:
    if len(name) > LONGEST_NAME:
        review.refuse(
            f"storage.{name}",
            f"has a name of {len(name)} characters, which ParallelCluster does not support",
            found=name,
            allowed=f"at most {LONGEST_NAME} characters",
            remedy=f"rename this entry, for example to `{name[:LONGEST_NAME].rstrip('-_')}`",
        )
    if name == FORBIDDEN_NAME:
        review.refuse(
            f"storage.{name}",
            "has a name that ParallelCluster reserves",
            found=name,
            allowed="another name",
            remedy="rename this entry, for example to `shared`",
        )


def _review_lustre(name: str, wanted: FileSystem, review: Review) -> None:
    if isinstance(wanted, NewFsxLustre):
        _refuse_keys(name, wanted, _NOT_OF_NEW, review)
    if not isinstance(wanted, ExistingFsxLustre):
        return
    _refuse_keys(name, wanted, _NOT_OF_EXISTING, review)
    if not _EXISTING_LUSTRE_ID.fullmatch(wanted.file_system_id):
        review.refuse(
            f"storage.{name}.file_system_id",
            "is an id that ParallelCluster does not accept",
            found=wanted.file_system_id,
            allowed="`fs-` and 17 hexadecimal digits",
            remedy="set the complete id of the file system",
        )


def _refuse_keys(
    name: str, wanted: FileSystem, keys: Mapping[str, tuple[str, str]], review: Review
) -> None:
    for key, (reason, way_out) in keys.items():
        value = getattr(wanted, key)
        if value is None or value is False:
            continue
        remove = review.remove_command(f"storage.{name}.{key}")
        review.refuse(
            f"storage.{name}.{key}",
            f"cannot be set: {reason}",
            found=value,
            allowed=f"no {key}",
            remedy=remove if way_out == _REMOVE else way_out,
        )


def _review_counts(config: ParallelClusterStackConfig, review: Review) -> None:
    for limit in _LIMITS:
        names = [name for name, wanted in config.storage.items() if limit.counts(wanted)]
        if len(names) > limit.most:
            review.refuse(
                "storage",
                f"has {len(names)} of these: {limit.what}; a ParallelCluster cluster can have at "
                f"most {limit.most}",
                found=", ".join(names),
                allowed=f"at most {limit.most}",
                remedy=limit.remedy,
                rules=("F10",),
            )


def _review_ids(config: ParallelClusterStackConfig, review: Review) -> None:
    seen: dict[str, str] = {}
    for name, wanted in config.storage.items():
        key, value = _existing_id(wanted)
        other = seen.setdefault(value, name) if value else name
        if other != name:
            review.refuse(
                f"storage.{name}.{key}",
                f"is mounted by storage.{other} already; ParallelCluster can mount it only once",
                found=value,
                allowed="another one",
                remedy=f"remove storage.{name}, and link its directory to that of storage.{other}",
            )


def _existing_id(wanted: FileSystem) -> tuple[str, str | None]:
    """Return the key and the id of an existing file system or volume; no id for a new one."""
    for key in ("file_system_id", "volume_id"):
        if key in type(wanted).model_fields:
            return key, getattr(wanted, key)
    return "", None


def _note_busy_head_node(config: ParallelClusterStackConfig, review: Review) -> None:
    nodes = sum(
        resource.maximum
        for queue in config.architecture.queues.values()
        for resource in queue.compute_resources.values()
    )
    shared = [name for name, wanted in config.storage.items() if wanted.kind.endswith("ebs")]
    if shared and nodes > BUSY_EBS_NODES:
        review.note(
            f"storage {', '.join(shared)}: one head node shares it with up to {nodes} nodes; EFS "
            "and FSx are faster"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedStorage:
    """Shared storage of a cluster, and the file systems that the stack itself creates."""

    entries: tuple[SharedStoragePlan, ...]
    """Sorted by name."""
    open_zfs: tuple[OpenZfsPlan, ...]


def plan_shared_storage(
    config: ParallelClusterStackConfig,
    network: NetworkPlan,
    *,
    queue_subnets: tuple[str, ...],
    head_subnets: tuple[str, ...],
    review: Review,
    subnets_known: bool,
) -> SharedStorage:
    """Return the shared storage of a cluster; record problems.

    Args:
        config: The stack.
        network: The network plan.
        queue_subnets: Subnet references of all queues; candidates if only the account knows them.
        head_subnets: The same for the head node.
        review: Records problems and notes.
        subnets_known: Whether the account was queried, so that unknown values stay unknown.
    """
    place = SharedStoragePlace(
        network=network,
        queue_subnets=queue_subnets,
        head_subnets=head_subnets,
        subnets_known=subnets_known,
    )
    review_storage(config, review)
    review_mount_directories(config, review)
    review_places(config, place, review)
    return SharedStorage(
        entries=tuple(_entry(name, wanted) for name, wanted in config.storage.items()),
        open_zfs=tuple(
            _open_zfs(name, wanted, config, place, review)
            for name, wanted in config.storage.items()
            if isinstance(wanted, NewFsxOpenZfs)
        ),
    )


def _entry(name: str, wanted: FileSystem) -> SharedStoragePlan:
    return SharedStoragePlan(
        name=name,
        mount_directory=wanted.mount_directory or "",
        type=storage_type(wanted),
        settings=storage_settings(name, wanted),
        # The stack does not delete existing file systems.
        retained=not is_new(wanted) or getattr(wanted, "deletion_protection", False),
    )


def _open_zfs(
    name: str,
    wanted: NewFsxOpenZfs,
    config: ParallelClusterStackConfig,
    place: SharedStoragePlace,
    review: Review,
) -> OpenZfsPlan:
    given = given_subnets(
        name, wanted, place.network, subnets_known=place.subnets_known, review=review
    )
    return plan_open_zfs(
        name,
        wanted,
        subnets=given or _beside_queues(name, place, review),
        clients=tuple(dict.fromkeys((*place.head_subnets, *place.queue_subnets))),
        tags=common_tags(config.name, config.tags),
    )


def _beside_queues(name: str, place: SharedStoragePlace, review: Review) -> tuple[str, ...]:
    """Return the subnet of the first queue, which the other queues can reach too."""
    if len(place.queue_subnets) < 2:
        return place.queue_subnets
    if not place.subnets_known:
        review.note(
            f"storage {name}: is in the first subnet of the queues, which can only be read from "
            "the account"
        )
        return place.queue_subnets
    review.note(
        f"storage {name}: is in {place.queue_subnets[0]}; traffic from nodes in other zones is "
        "slower, and AWS charges for it"
    )
    return place.queue_subnets[:1]

"""Checks of the mount directories of shared storage.

Sources: `SharedStorageMountDirValidator`, `DuplicateMountDirValidator` and
`OverlappingMountDirValidator` of the package `aws-parallelcluster`, version 3.16.1;
https://docs.aws.amazon.com/parallelcluster/latest/ug/directories-v3.html for `/home`. In that
version, the last validator gets names instead of directories and finds no overlaps; this module
does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from trainyard.components.catalog.instance_types import UnknownInstanceTypeError, instance_type
from trainyard.components.catalog.parallelcluster import DEFAULT_USERS, RESERVED_DIRECTORIES
from trainyard.components.config.parallelcluster_stack import ParallelClusterStackConfig
from trainyard.components.config.review import Review

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
                remedy=review.set_command(key, "/local_scratch"),
            )


def _scratch_remedy(
    owner: str, name: str, config: ParallelClusterStackConfig, review: Review
) -> str:
    moved = _moved(name, config, review)
    if owner == HEAD_NODE:
        return moved
    scratch = review.set_command(f"architecture.{owner}.scratch_directory", "/local_scratch")
    return f"{scratch}; or {moved}"


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

"""What ParallelCluster leaves in the account when its cluster goes, and how to remove that too.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html,
`DeletionPolicy`; the tag is that of https://docs.aws.amazon.com/parallelcluster/latest/ug/Tags-v3.html
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

CLUSTER_TAG = "parallelcluster:cluster-name"


@dataclass(frozen=True, slots=True)
class Retained:
    """A file system that stays."""

    name: str
    """Key in `storage`."""
    type: str
    """`StorageType` of ParallelCluster."""


_OF_FSX = (
    "aws fsx describe-file-systems --query \"FileSystems[?Tags[?Key=='{tag}' && Value=='{name}']]"
    '.FileSystemId"'
)
_FIND: Mapping[str, str] = {
    "Ebs": "aws ec2 describe-volumes --filters Name=tag:{tag},Values={name}",
    "Efs": (
        "aws efs describe-file-systems --query \"FileSystems[?Tags[?Key=='{tag}' && "
        "Value=='{name}']].FileSystemId\""
    ),
    "FsxLustre": _OF_FSX,
}
_REMOVE: Mapping[str, str] = {
    "Ebs": "aws ec2 delete-volume --volume-id vol-…",
    "Efs": "aws efs delete-file-system --file-system-id fs-…",
    "FsxLustre": "aws fsx delete-file-system --file-system-id fs-…",
}
_KINDS: Mapping[str, str] = {
    "Ebs": "existing-ebs",
    "Efs": "existing-efs",
    "FsxLustre": "existing-fsx-lustre",
}


def retained_storage(outputs: Mapping[str, Any], storage: object) -> tuple[Retained, ...]:
    """Return the file systems that ParallelCluster has made and keeps.

    Args:
        outputs: Of the stack, while it is up.
        storage: `storage` of the stack file; one that existed before is nobody's to remove.
    """
    entries: Mapping[Any, Any] = storage if isinstance(storage, Mapping) else {}
    return tuple(
        Retained(name, system["type"])
        for name, system in outputs.get("file_systems", {}).items()
        if system.get("outlives_the_cluster")
        and system["type"] in _REMOVE  # OpenZFS is the stack's own, and explained with it
        and not _existed(entries.get(name))
    )


def _existed(entry: object) -> bool:
    return isinstance(entry, Mapping) and str(entry.get("kind", "")).startswith("existing-")


def explanation(kept: Iterable[Retained], *, cluster_name: str, region: str) -> str:
    """Return for people what stays after a destroy, how to use it again, and how to remove it."""
    everything = tuple(kept)
    types = tuple(dict.fromkeys(each.type for each in everything))
    kinds = ", ".join(_KINDS[type_] for type_ in types)
    commands = [
        f"{line} --region {region}"
        for type_ in types
        for line in (_FIND[type_].format(tag=CLUSTER_TAG, name=cluster_name), _REMOVE[type_])
    ]
    return "\n".join(
        [
            f"{cluster_name} is gone; ParallelCluster has kept what deletion_protection covers:",
            *(f"  storage {each.name} ({each.type})" for each in everything),
            f"the next `up` makes new ones; to use these again, give their ids with kind: {kinds}",
            "to find them, and to remove them with what is in them:",
            *(f"  {command}" for command in commands),
        ]
    )

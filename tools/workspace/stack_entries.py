"""Which entries of a stack file a resource was made for, by its name.

Names of resources are made of the cluster's name, the entry's, and what they are:
`p5-cb-train-launch-template` is made for the node group `train` of `p5-cb`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Entry = tuple[str, ...]
"""Its place below `trainyard:cluster`."""

_COLLECTIONS = (
    ("architecture", "node_groups"),
    ("architecture", "compute_environments"),
    ("architecture", "job_definitions"),
    ("architecture", "queues"),
    ("storage",),
)
"""Mappings of the stack file from whose keys names of resources are made."""


def entries(cluster: Any) -> Iterator[Entry]:
    """Yield the entries of `trainyard:cluster` of a stack file, which may be wrong in itself."""
    for collection in _COLLECTIONS:
        mapping = cluster
        for part in collection:
            mapping = _get(mapping, part)
        if isinstance(mapping, Mapping):
            yield from ((*collection, str(entry)) for entry in mapping)


def entries_of(name: str, cluster: Any) -> list[Entry]:
    """Return the entries that a resource of this logical name can be of, those that fit it best.

    None for a resource of another cluster, or of the cluster as a whole; two where entries of two
    collections have one name.
    """
    rest = name.removeprefix(f"{_get(cluster, 'name')}-")
    if rest == name:
        return []
    found = [entry for entry in entries(cluster) if _is_of(rest, entry)]
    longest = max((len(entry[-1]) for entry in found), default=0)
    return [entry for entry in found if len(entry[-1]) == longest]


def _is_of(rest: str, entry: Entry) -> bool:
    # Names of what belongs to file systems of EKS say `storage` before the entry.
    name = rest.removeprefix(f"{entry[0]}-")
    return name == entry[-1] or name.startswith(f"{entry[-1]}-")


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None

"""Map resources to the entries of a stack file that they were created for, by name.

Resource names consist of the name of the cluster, the name of the entry, and a suffix for the kind:
`p5-cb-train-launch-template` is created for the node group `train` of `p5-cb`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Entry = tuple[str, ...]
"""Path of the entry below `trainyard:cluster`."""

_COLLECTIONS = (
    ("architecture", "node_groups"),
    ("architecture", "compute_environments"),
    ("architecture", "job_definitions"),
    ("architecture", "queues"),
    ("storage",),
)
"""Mappings of the stack file whose keys are part of resource names."""


def entries(cluster: Any) -> Iterator[Entry]:
    """Yield the entries of `trainyard:cluster`, which may be invalid."""
    for collection in _COLLECTIONS:
        mapping = cluster
        for part in collection:
            mapping = _get(mapping, part)
        if isinstance(mapping, Mapping):
            yield from ((*collection, str(entry)) for entry in mapping)


def entries_of(name: str, cluster: Any) -> list[Entry]:
    """Return the entries that best match a logical resource name.

    Empty for a resource of another cluster, or of the cluster as a whole; two if entries of two
    collections have the same name.
    """
    rest = name.removeprefix(f"{_get(cluster, 'name')}-")
    if rest == name:
        return []
    found = [entry for entry in entries(cluster) if _is_of(rest, entry)]
    longest = max((len(entry[-1]) for entry in found), default=0)
    return [entry for entry in found if len(entry[-1]) == longest]


def _is_of(rest: str, entry: Entry) -> bool:
    # Names of resources of EKS file systems have `storage` before the entry.
    name = rest.removeprefix(f"{entry[0]}-")
    return name == entry[-1] or name.startswith(f"{entry[-1]}-")


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None

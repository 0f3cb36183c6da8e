"""Which part of a stack file a resource was made for, by its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from components.config.problems import ROOT
from tools.findings.positions import Positions
from tools.workspace.stack_files import StackFile

_COLLECTIONS = (
    ("architecture", "node_groups"),
    ("architecture", "compute_environments"),
    ("architecture", "job_definitions"),
    ("storage",),
)
"""Mappings of the stack file from whose keys names of resources are made."""


class ResourcePlaces:
    """Lines of a stack file by resource."""

    def __init__(self, stack_file: StackFile) -> None:
        self._positions = Positions(stack_file.path)
        self._cluster: Any = stack_file.cluster

    def line_of(self, urn: str) -> int:
        """Return the line of the entry that a resource was made for.

        Its name is the cluster's, the entry's, and what it is: `p5-cb-train-launch-template` is
        made for the node group `train`. A resource of no entry, or of two that share a name, is of
        the cluster as a whole.
        """
        name = urn.rpartition("::")[2]
        rest = name.removeprefix(f"{_get(self._cluster, 'name')}-")
        if rest == name:
            return self._positions.line_of(ROOT)
        found = [path for path in self._entries() if _is_of(rest, path)]
        longest = max((len(path[-1]) for path in found), default=0)
        nearest = [path for path in found if len(path[-1]) == longest]
        key = ".".join((ROOT, *nearest[0])) if len(nearest) == 1 else ROOT
        return self._positions.line_of(key)

    def _entries(self) -> Iterator[tuple[str, ...]]:
        for collection in _COLLECTIONS:
            mapping: Any = self._cluster
            for part in collection:
                mapping = _get(mapping, part)
            if isinstance(mapping, Mapping):
                yield from ((*collection, str(entry)) for entry in mapping)


def _is_of(rest: str, path: tuple[str, ...]) -> bool:
    # Names of what belongs to file systems of EKS say `storage` before the entry.
    name, entry = rest.removeprefix(f"{path[0]}-"), path[-1]
    return name == entry or name.startswith(f"{entry}-")


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None

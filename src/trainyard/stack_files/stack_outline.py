"""The kind, nodes and Capacity Blocks of a stack, from a file that may be incomplete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.components.config.keys import mapping_of
from trainyard.stack_files.stack_files import StackFile

_POOLS = ("node_groups", "queues", "compute_environments")
"""Sections of `architecture` with the nodes that run jobs, by kind of architecture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolOutline:
    """Nodes of one instance type."""

    key: str
    """Key in the stack file, relative to `trainyard:cluster`."""
    section: Mapping[str, Any]
    purchase_options: tuple[str, ...]
    """That of the nodes or their queue, and their further blocks."""


def pools_of(stack_file: StackFile) -> list[PoolOutline]:
    """Return the node pools that run jobs."""
    architecture = mapping_of(mapping_of(stack_file.cluster).get("architecture"))
    return [
        found
        for key in _POOLS
        for name, pool in mapping_of(architecture.get(key)).items()
        for found in _with_types(f"architecture.{key}.{name}", pool, None)
    ]


def nodes_of(stack_file: StackFile) -> list[str]:
    """Return the nodes of each node pool, such as `2 x p5.48xlarge` or `0 to 4 x p4de.24xlarge`."""
    return [_described(pool.section) for pool in pools_of(stack_file)]


def instance_types_of(stack_file: StackFile) -> list[str]:
    """Return the instance types of the nodes, each once."""
    return [*dict.fromkeys(each.rpartition(" ")[2] for each in nodes_of(stack_file))]


def reservations_of(stack_file: StackFile) -> dict[str, Mapping[str, Any]]:
    """Return the entries of reservations, by name."""
    entries = mapping_of(mapping_of(stack_file.cluster).get("reservations"))
    return {name: mapping_of(entry) for name, entry in entries.items()}


def capacity_blocks_of(stack_file: StackFile) -> dict[str, Mapping[str, Any]]:
    """Return the entries of Capacity Blocks, by name."""
    entries = reservations_of(stack_file).items()
    return {name: entry for name, entry in entries if entry.get("kind") == "capacity-block"}


def _with_types(key: str, pool: Any, option: Any) -> Iterator[PoolOutline]:
    """Yield what has an instance type: a pool itself, or the compute resources of a queue."""
    section = mapping_of(pool)
    option = section.get("purchase_option") or option
    if "instance_type" in section:
        further = section.get("further_blocks")
        options = (option, *(further if isinstance(further, list) else ()))
        names = tuple(each for each in options if isinstance(each, str))
        yield PoolOutline(key=key, section=section, purchase_options=names)
    for name, each in mapping_of(section.get("compute_resources")).items():
        yield from _with_types(f"{key}.compute_resources.{name}", each, option)


def _described(section: Mapping[str, Any]) -> str:
    least, most = section.get("minimum"), section.get("maximum")
    if "desired" in section:
        count = f"{section['desired']} x "
    elif least == most:
        count = "" if least is None else f"{least} x "
    else:
        count = f"{0 if least is None else least} to {most} x "
    return f"{count}{section['instance_type']}"

"""The kind, nodes and Capacity Blocks of a stack, from a file that may be incomplete."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from components.config.keys import mapping_of
from tools.workspace.stack_files import StackFile

_POOLS = ("node_groups", "queues", "compute_environments")
"""Sections of `architecture` with the nodes that run jobs, by kind of architecture."""


def nodes_of(stack_file: StackFile) -> list[str]:
    """Return the nodes of each node pool, such as `2 x p5.48xlarge` or `0 to 4 x p4de.24xlarge`."""
    architecture = mapping_of(mapping_of(stack_file.cluster).get("architecture"))
    pools = (pool for key in _POOLS for pool in mapping_of(architecture.get(key)).values())
    return [_described(section) for pool in pools for section in _with_types(pool)]


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


def _with_types(pool: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the sections of a pool with an instance type: itself, or its compute resources."""
    section = mapping_of(pool)
    if "instance_type" in section:
        yield section
    for each in mapping_of(section.get("compute_resources")).values():
        yield from _with_types(each)


def _described(section: Mapping[str, Any]) -> str:
    least, most = section.get("minimum"), section.get("maximum")
    if "desired" in section:
        count = f"{section['desired']} x "
    elif least == most:
        count = "" if least is None else f"{least} x "
    else:
        count = f"{0 if least is None else least} to {most} x "
    return f"{count}{section['instance_type']}"

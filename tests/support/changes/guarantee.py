"""What every update must keep of reserved capacity, computed from the states before and after it.

The gate of `up` decides by the operations of the engine. This looks only at who has nodes in which
reservation before and after an update, so that both can be compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.changes.rows import Row
from trainyard.changes.losses import SLURM_CLUSTER, resources_of
from trainyard.changes.reserved_capacity import (
    AUTO_SCALING_GROUP,
    COMPUTE_ENVIRONMENT,
    NODE_GROUP,
    Reserved,
    ReservedGroups,
    Side,
    desired_nodes,
    nodes_that_come,
    nodes_that_go,
)
from trainyard.changes.steps import PlannedStep
from trainyard.components.capacity.facts import ReservationFacts
from trainyard.components.capacity.update import SURGE_PER_ZONE
from trainyard.components.config.keys import mapping_of

_GROUPS = (NODE_GROUP, AUTO_SCALING_GROUP, COMPUTE_ENVIRONMENT)


@dataclass(frozen=True, slots=True)
class Pool:
    """Nodes in one reservation."""

    capacity: Reserved
    nodes: int
    """Nodes that run; for AWS Batch, those that may run."""


def is_accepted(row: Row) -> bool:
    """Return whether `up` makes the change, if the user allows the losses that it names."""
    impossible = (row.refused, row.protected, row.collisions, row.running_blocks)
    return not any((*impossible, row.moved_networks))


def surges(row: Row, reservations: Mapping[str, ReservationFacts]) -> dict[str, str]:
    """Return the reservations in which an update needs more nodes than they have."""
    return {
        target: f"{row.edit.line} needs {needed} of {reservations[target].instance_count}"
        for target, needed in _most_at_once(row).items()
        if target in reservations and needed > reservations[target].instance_count
    }


def unannounced(row: Row) -> set[str]:
    """Return pools that lose their nodes in a reservation although `up` does not name them.

    A pool that moves from one On-Demand Capacity Reservation to another one loses nothing.
    """
    before, after = dict(_pools(row.everything, "old")), dict(_pools(row.everything, "new"))
    ended = {step.name for step in row.everything if step.operation in ("delete", "replace")}
    lost = {
        name for name, pool in before.items() if name in ended or _has_lost(pool, after.get(name))
    }
    named = {loss.name for loss in row.losses}
    # The loss of a Slurm cluster names all of its nodes.
    return {name for name in lost if named.isdisjoint((name, name.partition("/")[0]))}


def _has_lost(pool: Pool, after: Pool | None) -> bool:
    return after is None or (pool.capacity.is_block and pool.capacity != after.capacity)


def _pools(steps: Sequence[PlannedStep], side: Side) -> Iterator[tuple[str, Pool]]:
    groups = ReservedGroups(steps)
    for step in steps:
        inputs = step.old if side == "old" else step.new
        if step.type == SLURM_CLUSTER:
            for name, capacity, nodes in resources_of(inputs.get("templateBody")):
                if capacity is not None:
                    yield f"{step.name}/{name}", Pool(capacity, nodes)
        capacity = groups.capacity_of(step, side) if step.type in _GROUPS and inputs else None
        if capacity is not None:
            yield step.name, Pool(capacity, _nodes(step, side))


def _nodes(step: PlannedStep, side: Side) -> int:
    if step.type != COMPUTE_ENVIRONMENT:
        return desired_nodes(step, side)
    return nodes_that_go(step) if side == "old" else nodes_that_come(step)


def _most_at_once(row: Row) -> Counter[str]:
    before, after = dict(_pools(row.everything, "old")), dict(_pools(row.everything, "new"))
    steps = {step.name: step for step in row.everything if step.type in _GROUPS}
    needed: Counter[str] = Counter()
    for name in {*before, *after}:
        old, new = before.get(name), after.get(name)
        if old and new and old.capacity == new.capacity:
            needed[old.capacity.target] += _together(row, steps.get(name), old.nodes, new.nodes)
        else:
            for each in (old, new):
                if each is not None:
                    needed[each.capacity.target] += each.nodes
    return needed


def _together(row: Row, step: PlannedStep | None, old: int, new: int) -> int:
    """Return how many nodes of a pool may exist at the same time while it changes."""
    most = max(old, new)
    if step is None or step.operation == "same":
        return most
    first_deleted = step.operation != "replace" or step.urn in row.deletes_first
    if step.type == COMPUTE_ENVIRONMENT:
        return old + new if step.operation == "replace" or _starts_other_nodes(step) else most
    if step.type == NODE_GROUP and "launchTemplate" in step.changed_properties:
        return most + _surge(step.new)
    return most if first_deleted else old + new


def _starts_other_nodes(step: PlannedStep) -> bool:
    """Return whether Batch replaces nodes; a change of sizes alone only adds or removes some."""
    sizes = ("minVcpus", "maxVcpus", "desiredVcpus")
    return any(
        path.startswith("computeResources") and path.rpartition(".")[2] not in sizes
        for path in step.changed
    )


def _surge(inputs: Mapping[str, Any]) -> int:
    """Return how many nodes EKS launches before it terminates the first one."""
    if mapping_of(inputs.get("updateConfig")).get("updateStrategy") == "MINIMAL":
        return 0
    return SURGE_PER_ZONE * len(inputs.get("subnetIds") or ())

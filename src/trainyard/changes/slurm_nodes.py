"""Compute resources of a Slurm cluster whose nodes leave their reservation or end in an update.

A stack has one CloudFormation resource for the whole cluster, so the steps of the engine do not
show them.

Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html,
        `CapacityReservationTarget` and `CapacityType` of queues and compute resources
    https://github.com/aws/aws-parallelcluster-cookbook, `update_head_node.rb` of Slurm
        (`update_nodes_in_queue`): a change of one reservation ends all nodes of its queue, with
        `TERMINATE` at once
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.changes.reserved_capacity import Reserved
from trainyard.changes.slurm_storage import cluster_configurations
from trainyard.components.config.keys import mapping_of


@dataclass(frozen=True, slots=True, kw_only=True)
class LeavingNodes:
    """A compute resource whose nodes leave their reservation, or end and start again in it."""

    name: str
    """`queue/compute resource`."""
    nodes: int
    """Static nodes."""
    was: Reserved
    becomes: Reserved | None
    """None if the compute resource is removed or launches On-Demand; `was` if they start again."""


def leaving_nodes(old: Any, new: Any) -> Iterator[LeavingNodes]:
    """Yield the compute resources that are removed, get another reservation, or end with others.

    `old` and `new` are template bodies as text; with an unknown template, nothing leaves.
    """
    if cluster_configurations(old) is None or cluster_configurations(new) is None:
        return
    becoming = {name: capacity for name, capacity, _ in resources_of(new)}
    before = [*resources_of(old)]
    terminates = _terminates(new)
    ended = {
        _queue(name)
        for name, was, _ in before
        if terminates and name in becoming and becoming[name] != was
    }
    for name, was, nodes in before:
        if was is None:
            continue
        if becoming.get(name) != was or (was.is_block and _queue(name) in ended):
            yield LeavingNodes(name=name, nodes=nodes, was=was, becomes=becoming.get(name))


def _queue(name: str) -> str:
    return name.partition("/")[0]


def _terminates(template: Any) -> bool:
    return any(
        mapping_of(mapping_of(cluster.get("Scheduling")).get("SlurmSettings")).get(
            "QueueUpdateStrategy"
        )
        == "TERMINATE"
        for cluster in cluster_configurations(template) or ()
    )


def full_reservations(old: Any, new: Any, instances: Mapping[str, int]) -> Iterator[Reserved]:
    """Yield the reservations without room for the static nodes of an old and a new cluster."""
    goes, comes = (_static_nodes(each) for each in (old, new))
    for capacity, nodes in comes.items():
        if (
            capacity in goes
            and nodes
            and nodes + goes[capacity] > instances.get(capacity.target, 0)
        ):
            yield capacity


def _static_nodes(template: Any) -> Counter[Reserved]:
    found: Counter[Reserved] = Counter()
    for _, capacity, nodes in resources_of(template):
        if capacity is not None:
            found[capacity] += nodes
    return found


def resources_of(template: Any) -> Iterator[tuple[str, Reserved | None, int]]:
    """Yield `queue/compute resource`, its reservation and its static nodes."""
    for cluster in cluster_configurations(template) or ():
        for queue in mapping_of(cluster.get("Scheduling")).get("SlurmQueues") or ():
            for resource in queue.get("ComputeResources") or ():
                name = f"{queue['Name']}/{resource['Name']}"
                yield name, _capacity(queue, resource), int(resource.get("MinCount") or 0)


def _capacity(queue: Mapping[str, Any], resource: Mapping[str, Any]) -> Reserved | None:
    key = "CapacityReservationTarget"
    target = mapping_of(resource.get(key)) or mapping_of(queue.get(key))
    if not target:
        return None
    named = target.get("CapacityReservationId") or target.get("CapacityReservationResourceGroupArn")
    known = named if isinstance(named, str) else ""
    return Reserved(known, is_block=queue.get("CapacityType") == "CAPACITY_BLOCK")

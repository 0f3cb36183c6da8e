"""Refuse an update of a cluster that would need more nodes than a reservation holds.

A node that changes is no danger: ParallelCluster ends the instance of a static node before it
launches another in its place, and one that finds no capacity is tried again. Nodes of other names
are: those that come are launched as soon as the update is in force, while jobs may still run on
those that go, up to `MaxCount`.

Sources:
    https://github.com/aws/aws-parallelcluster-node/blob/develop/src/slurm_plugin/clustermgtd.py,
    `_handle_unhealthy_static_nodes`
    https://docs.aws.amazon.com/parallelcluster/latest/ug/slurm-workload-manager-v3.html, "Cluster
    capacity size and update": as many instances as `MinCount` are launched upon an update
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.config.problems import Problem, set_command
from components.parallelcluster.update_keys import stack_key

_TARGET = "CapacityReservationTarget"
# https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
_DEFAULT_MAXIMUM = 10

_Name = tuple[str, str]
"""Of a queue and of a compute resource in it."""


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The nodes of one compute resource."""

    target: str
    """Id of the reservation or ARN of the group; empty where nothing is reserved or known."""
    least: int
    most: int


def surge_problems(
    deployed: Mapping[str, Any],
    rendered: Mapping[str, Any],
    instances: Mapping[str, int],
    *,
    stack_file: str,
    fleet_stopped: bool = False,
) -> Iterator[Problem]:
    """Yield compute resources whose static nodes would start in a reservation that others hold.

    Args:
        deployed: Configuration of the cluster as it is; CloudFormation may have made text of its
            numbers.
        rendered: The one that is wanted. A group of reservations that the stack makes itself is a
            `Reference` there, of which the ARN is not known: its nodes are passed over.
        instances: How many instances a reservation has, by its id or the ARN of its group; one that
            is missing is full.
        stack_file: File that the problems are about.
        fleet_stopped: Whether no compute node runs.
    """
    if fleet_stopped:
        return
    before, after = _nodes(deployed), _nodes(rendered)
    for name, comes in after.items():
        if not comes.target or not comes.least or _is_in(before.get(name), comes.target):
            continue
        going = {
            other: nodes.most
            for other, nodes in before.items()
            if nodes.target == comes.target and not _is_in(after.get(other), comes.target)
        }
        wanted = sum(nodes.most for nodes in after.values() if nodes.target == comes.target)
        room = instances.get(comes.target, 0)
        if going and wanted + sum(going.values()) > room:
            yield _problem(name, comes, sorted(going), room, stack_file)


def _is_in(nodes: _Nodes | None, target: str) -> bool:
    return nodes is not None and nodes.target == target


def _problem(name: _Name, comes: _Nodes, going: list[_Name], room: int, stack_file: str) -> Problem:
    queue, resource = name
    setting = ("Scheduling", "SlurmQueues", queue, "ComputeResources", resource, "MinCount")
    path, others = stack_key(setting), ", ".join("/".join(other) for other in going)
    size = f"which has {room} instances" if room else "of whose size nothing is known"
    return Problem(
        path=path,
        found=comes.least,
        problem=(
            f"these nodes start in {comes.target}, {size}, while jobs may still run on those of "
            f"{others}, which leave it in the same update"
        ),
        allowed="0 in an update that takes others out of the same reservation",
        remedy=(
            f"two updates: {set_command(path, '0', stack_file=stack_file)} for this one, then "
            f"{comes.least} again; or stop the compute fleet first"
        ),
    )


def _nodes(config: Mapping[str, Any]) -> dict[_Name, _Nodes]:
    """Return the nodes of every compute resource; a target of its own overrides the queue's."""
    found: dict[_Name, _Nodes] = {}
    for queue in config["Scheduling"].get("SlurmQueues") or ():
        for resource in queue.get("ComputeResources") or ():
            least = int(resource.get("MinCount") or 0)
            found[queue["Name"], resource["Name"]] = _Nodes(
                target=_target(resource) or _target(queue),
                least=least,
                most=int(resource.get("MaxCount") or max(_DEFAULT_MAXIMUM, least)),
            )
    return found


def _target(section: Mapping[str, Any]) -> str:
    target = section.get(_TARGET) or {}
    named = target.get("CapacityReservationId") or target.get("CapacityReservationResourceGroupArn")
    return named if isinstance(named, str) else ""

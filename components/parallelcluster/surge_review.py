"""Refuse a cluster update that temporarily needs more nodes than a reservation has.

Changed nodes are safe: ParallelCluster terminates the instance of a static node before it launches
its replacement, and retries launches without capacity. Nodes with new names are not: they launch as
soon as the update is active, while jobs can still run on up to `MaxCount` removed nodes.

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

from trainyard.components.config.problems import Problem, set_command
from trainyard.components.parallelcluster.update_keys import stack_key

_TARGET = "CapacityReservationTarget"
# https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
_DEFAULT_MAXIMUM = 10

_Name = tuple[str, str]
"""Names of a queue and of a compute resource in it."""


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The nodes of one compute resource."""

    target: str
    """Id of the reservation or ARN of the group; empty without a reservation or if unknown."""
    least: int
    most: int


def surge_problems(
    deployed: Mapping[str, Any],
    rendered: Mapping[str, Any],
    instances: Mapping[str, int],
    *,
    stack_file: str,
    fleet_stopped: bool,
) -> Iterator[Problem]:
    """Yield compute resources whose static nodes would start in a reservation that is in use.

    Args:
        deployed: Deployed cluster configuration; CloudFormation can have converted numbers to
            strings.
        rendered: New configuration. A reservation group that the stack creates is a `Reference`
            without a known ARN; its nodes are skipped.
        instances: Number of instances of each reservation, by id or group ARN; a missing one counts
            as full.
        stack_file: Name of the stack file.
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
    size = f"which has {room} instances" if room else "whose size is unknown"
    return Problem(
        path=path,
        found=comes.least,
        problem=(
            f"these nodes launch into {comes.target}, {size}, while jobs can still run on the "
            f"nodes of {others}, which the same update removes"
        ),
        allowed="0 in an update that removes other nodes from the same reservation",
        remedy=(
            f"use two updates: {set_command(path, '0', stack_file=stack_file)} for this one, then "
            f"{comes.least} again; or stop the compute fleet first"
        ),
    )


def _nodes(config: Mapping[str, Any]) -> dict[_Name, _Nodes]:
    """Return the nodes of every compute resource; its own target overrides that of the queue."""
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

"""Refuse what ParallelCluster or a full reservation would refuse, before it starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainyard.components.config.problems import ROOT, Problem, set_command, show
from trainyard.components.parallelcluster.references import Reference, resolve
from trainyard.components.parallelcluster.update_verdicts import (
    Change,
    Update,
    UpdateCondition,
    changes,
    refused,
    stack_key,
)

# Refuse a cluster update that temporarily needs more nodes than a reservation has.
#
# Changed nodes are safe: ParallelCluster terminates the instance of a static node before it
# launches its replacement, and retries launches without capacity. Nodes with new names are not:
# they launch as soon as the update is active, while jobs can still run on up to `MaxCount` removed
# nodes.
#
# Sources:
#     https://github.com/aws/aws-parallelcluster-node/blob/develop/src/slurm_plugin/clustermgtd.py,
#     `_handle_unhealthy_static_nodes`
#     https://docs.aws.amazon.com/parallelcluster/latest/ug/slurm-workload-manager-v3.html, "Cluster
#     capacity size and update": as many instances as `MinCount` are launched upon an update


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


# Refuse cluster changes that ParallelCluster would refuse, before the update starts.
#
# ParallelCluster compares the configurations during the update, and a refusal fails the
# CloudFormation stack. This check has the deployed configuration before any resource is registered.


_STRATEGY = f"{ROOT}.architecture.slurm.queue_update_strategy"
_WHY: Mapping[UpdateCondition, str] = {
    UpdateCondition.NONE: "ParallelCluster cannot change this in an existing cluster",
    UpdateCondition.STOP: "ParallelCluster changes this only while the compute fleet is stopped",
    UpdateCondition.STOP_OR_TERMINATE: (
        "ParallelCluster removes nodes only with the queue update strategy TERMINATE, or while "
        "the compute fleet is stopped"
    ),
    UpdateCondition.STOP_OR_STRATEGY: (
        "ParallelCluster changes nodes only with the queue update strategy DRAIN or TERMINATE, or "
        "while the compute fleet is stopped"
    ),
    UpdateCondition.WITHOUT_LUSTRE: (
        "ParallelCluster would have to replace its FSx for Lustre file system, and rejects the "
        "update"
    ),
}


def update_problems(
    deployed: Mapping[str, Any],
    rendered: Mapping[str, Any],
    *,
    stack_file: str,
    cluster_name: str = "NAME",
    fleet_stopped: bool = False,
) -> Iterator[Problem]:
    """Yield the changes that ParallelCluster would refuse, each with its remedy.

    Args:
        deployed: Deployed cluster configuration; CloudFormation can have converted numbers and
            booleans to strings.
        rendered: New configuration. A `Reference` counts as equal to the deployed value.
        stack_file: Name of the stack file.
        cluster_name: Name of the cluster, for the commands in remedies.
        fleet_stopped: Whether the compute fleet is stopped, so that no compute nodes run.
    """
    found = tuple(changes(deployed, rendered))
    update = Update(deployed=deployed, wanted=rendered, changes=found, fleet_stopped=fleet_stopped)
    seen: set[str] = set()
    for change in found:
        way, key = refused(change, update), _key(change)
        # One stack file key can map to several settings, such as a placement group.
        if way is None or key in seen:
            continue
        seen.add(key)
        yield Problem(
            path=key,
            problem=f"{_what(change)}: {_WHY[way]}",
            found=_shown(change.new),
            allowed=None if change.old is None else f"as deployed: {show(_shown(change.old))}",
            remedy=_REMEDIES[way](stack_file, cluster_name),
        )


def _key(change: Change) -> str:
    return stack_key((*change.path, change.key, *filter(None, [change.item])))


def _what(change: Change) -> str:
    setting = ".".join((*change.path, change.key))
    if change.old is None:
        return f"adds `{setting}`"
    return f"removes from `{setting}`" if change.new is None else f"changes `{setting}`"


def _shown(value: Any) -> Any:
    """Return a value for messages: an item by its name, a reference by its target."""
    plain = resolve(value, _reference_in_words)
    if isinstance(plain, Mapping) and "Name" in plain:
        return plain["Name"]
    return plain


def _reference_in_words(reference: Reference) -> str:
    return f"{reference.kind} {reference.name}"


def _keep(_stack_file: str, _cluster_name: str) -> str:
    return (
        "revert it; to apply it, run `destroy` and `up`, or create another stack, with another "
        "`name`"
    )


def _stop(_stack_file: str, cluster_name: str) -> str:
    pcluster = f"--cluster-name {cluster_name}"
    return (
        f"`pcluster update-compute-fleet {pcluster} --status STOP_REQUESTED` terminates nodes and "
        f"jobs; when `pcluster describe-compute-fleet {pcluster}` returns STOPPED, run `up` again, "
        "and then the first command with START_REQUESTED"
    )


def _terminate(stack_file: str, cluster_name: str) -> str:
    command = set_command(_STRATEGY, "TERMINATE", stack_file=stack_file)
    return (
        f"{command} for this update, which terminates the jobs on removed nodes; or stop the fleet "
        f"first: {_stop(stack_file, cluster_name)}"
    )


def _strategy(stack_file: str, cluster_name: str) -> str:
    command = set_command(_STRATEGY, "DRAIN", stack_file=stack_file)
    return (
        f"{command}, which waits for jobs to end before it replaces their nodes; or stop the fleet "
        f"first: {_stop(stack_file, cluster_name)}"
    )


def _without_lustre(_stack_file: str, _cluster_name: str) -> str:
    return (
        "revert the subnets; or mount the file system by its id, as an entry of `storage` with "
        "another name and `kind: existing-fsx-lustre`: it is kept if it has `deletion_protection`"
    )


_REMEDIES = {
    UpdateCondition.NONE: _keep,
    UpdateCondition.STOP: _stop,
    UpdateCondition.STOP_OR_TERMINATE: _terminate,
    UpdateCondition.STOP_OR_STRATEGY: _strategy,
    UpdateCondition.WITHOUT_LUSTRE: _without_lustre,
}

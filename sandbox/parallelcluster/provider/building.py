"""Creates, changes and removes the parts of a cluster."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from trainyard.sandbox.faults.clusters import NODE_NEVER_JOINS, is_named
from trainyard.sandbox.parallelcluster.provider import launch, network, storage
from trainyard.sandbox.parallelcluster.provider.account import Clients, of_this_function
from trainyard.sandbox.parallelcluster.provider.model import Cluster, ComputeNodes
from trainyard.sandbox.parallelcluster.provider.network import Groups

NEVER_REGISTERED = (
    "Cluster has been set to PROTECTED mode due to failures detected in static node provisioning."
)
"""https://github.com/aws/aws-parallelcluster-cookbook, `write_chef_error_handler.rb`"""


def never_registers(queue: str, name: str) -> bool:
    """Return whether nodes of a compute resource run and never register with Slurm."""
    # The function is a separate process; the schedule is in force in the account's process.
    entries: list[dict[str, Any]] = of_this_function().ask("GET", "faults")
    return any(
        is_named(each["node_group"], queue, name)
        for each in entries
        if each["happens"] == NODE_NEVER_JOINS.name
    )


class BuildError(Exception):
    """A part of a cluster could not be created; the message names ParallelCluster's failure code.

    The codes: https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/models/cluster_resources.py
    """


def build(clients: Clients, cluster: Cluster) -> None:
    """Create all parts of a cluster.

    Raises:
        BuildError: A part cannot be created; the parts created before still exist.
    """
    try:
        groups = network.make_groups(clients, cluster)
        for each in cluster.storage:
            storage.make_storage(clients, cluster, each, groups)
        launch.launch_head_node(clients, cluster, groups)
    except (ClientError, BotoCoreError, TimeoutError) as error:
        raise _failure("ClusterCreationFailure", "", error) from error
    for nodes in cluster.compute:
        _make_nodes(clients, cluster, nodes, groups)


def change(clients: Clients, old: Cluster, new: Cluster) -> None:
    """Update a cluster: nodes and storage are added and removed, the head node is kept.

    A change of a compute resource replaces all nodes of its queue, as the queue update strategies
    `DRAIN` and `TERMINATE` do; here, jobs do not delay it.
    https://github.com/aws/aws-parallelcluster-cookbook, `update_head_node.rb`

    Raises:
        BuildError: A part cannot be created; the update is incomplete.
    """
    groups = network.find_groups(clients, new.name)
    _change_storage(clients, old, new, groups)
    before, after = _by_key(old), _by_key(new)
    replaced = {
        nodes.queue
        for key, nodes in before.items()
        if key in after and not _same_nodes(nodes, after[key])
    }
    for key, nodes in before.items():
        if key not in after or nodes.queue in replaced:
            launch.remove_compute(clients, old.name, nodes)
    for nodes in after.values():
        _make_nodes(clients, new, nodes, groups)


def remove(clients: Clients, name: str, *, retained: Collection[str]) -> None:
    """Remove all existing parts of a cluster, by its tags.

    Args:
        clients: The account.
        name: Name of the cluster.
        retained: Names of the shared storage that is kept.
    """
    launch.remove_instances(clients, name)
    kept = storage.remove_storage(clients, name, retained=retained)
    network.remove_groups(clients, name, keep=sorted(kept))


def _make_nodes(clients: Clients, cluster: Cluster, nodes: ComputeNodes, groups: Groups) -> None:
    """Adjust the number of static nodes."""
    there = launch.compute_instances(clients, cluster.name, nodes)
    surplus = [each["InstanceId"] for each in there[nodes.static_count :]]
    missing = max(0, nodes.static_count - len(there))
    try:
        launch.make_placement_group(clients, cluster, nodes)
        launch.terminate(clients, surplus)
        launch.launch_compute(clients, cluster, nodes, groups, missing)
    except (ClientError, BotoCoreError) as error:
        if _waits_for_its_block(nodes, error):
            return
        raise _failure("StaticNodeBootstrapFailure", _where(nodes), error) from error
    if nodes.static_count and never_registers(nodes.queue, nodes.name):
        raise BuildError(f"{_where(nodes)}{NEVER_REGISTERED} (StaticNodeBootstrapFailure)")


def _waits_for_its_block(nodes: ComputeNodes, error: Exception) -> bool:
    """Return whether nodes cannot launch because their Capacity Block is not active.

    The cluster is created without them, and they launch when it is (`trainyard.sandbox.slurm`).
    https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-capacity-blocks.html
    """
    return (
        nodes.launch.get("InstanceMarketOptions") == {"MarketType": "capacity-block"}
        and isinstance(error, ClientError)
        and error.response["Error"]["Code"] == "InvalidCapacityReservationState"
    )


def _where(nodes: ComputeNodes) -> str:
    return f"queue {nodes.queue}, compute resource {nodes.name}: "


def _change_storage(clients: Clients, old: Cluster, new: Cluster, groups: Groups) -> None:
    before = {each.name: each for each in old.storage}
    after = {each.name: each for each in new.storage}
    there = {each.name for each in storage.storage_of(clients, new.name)}
    staying = {*after, *(name for name, each in before.items() if each.is_retained)}
    storage.remove_storage(clients, new.name, retained=staying)
    try:
        for name in after.keys() - there:
            storage.make_storage(clients, new, after[name], groups)
    except (ClientError, BotoCoreError, TimeoutError) as error:
        raise _failure("ClusterUpdateFailure", "", error) from error


def _failure(code: str, where: str, error: Exception) -> BuildError:
    """Return the failure with its codes last: CloudFormation gets the end of a long reason."""
    if not isinstance(error, ClientError):
        return BuildError(f"{where}{error} ({code})")
    said = error.response["Error"]
    return BuildError(f"{where}{said['Message']} ({code}, {error.operation_name}: {said['Code']})")


def _by_key(cluster: Cluster) -> Mapping[tuple[str, str], ComputeNodes]:
    return {(nodes.queue, nodes.name): nodes for nodes in cluster.compute}


def _same_nodes(one: ComputeNodes, other: ComputeNodes) -> bool:
    return replace(one, static_count=0) == replace(other, static_count=0)

"""What an update would lose: data, a cluster with its workloads, or a place in a reservation."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from trainyard.changes.reserved_capacity import (
    AUTO_SCALING_GROUP,
    COMPUTE_ENVIRONMENT,
    NODE_GROUP,
    Reserved,
    ReservedGroups,
    desired_nodes,
    nodes_that_come,
    nodes_that_go,
)
from trainyard.changes.steps import PlannedStep
from trainyard.components.config.keys import mapping_of

VPC = "aws:ec2/vpc:Vpc"
_STAYS: Mapping[str, str] = {
    "aws:eks/cluster:Cluster": "the control plane, which EKS cannot move to another VPC",
    "aws:ec2/natGateway:NatGateway": (
        "a NAT gateway, which holds the Elastic IP address that its successor needs, and keeps "
        "the internet gateway in its VPC"
    ),
}
"""Text for the resource types that prevent the replacement of a VPC.

The engine creates new resources before it deletes old ones. It would assign new subnets to the
existing control plane, request the old NAT gateway's address for the new one, and detach the
internet gateway from a VPC with mapped addresses. AWS rejects each of these.
https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html (new subnets must be in the same
VPC as the original ones)
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DetachInternetGateway.html
https://github.com/pulumi/pulumi-aws/issues/1483
"""


def moved_networks(steps: Iterable[PlannedStep]) -> tuple[PlannedStep, ...]:
    """Return the VPCs that would be replaced while they contain such resources."""
    found = tuple(steps)
    return tuple(
        step
        for step in found
        if step.type == VPC and step.operation == "replace" and what_stays(found)
    )


def what_stays(steps: Iterable[PlannedStep]) -> tuple[str, ...]:
    """Return the resources in a stack's networks that cannot move, without duplicates."""
    there = {step.type for step in steps if step.operation != "create"}
    return tuple(words for type_token, words in _STAYS.items() if type_token in there)


# Managed storage that ParallelCluster deletes when its entry is removed from the cluster.
#
# Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/SharedStorage-v3.html,
# `DeletionPolicy`: whether a removed file system or volume is retained.


CLUSTER = "Custom::PclusterCluster"
_SETTINGS = (
    "EbsSettings",
    "EfsSettings",
    "FsxLustreSettings",
    "FsxOpenZfsSettings",
    "FsxOntapSettings",
)
_EXISTING = ("VolumeId", "FileSystemId", "FileCacheId")


def deleted_storage(old: Any, new: Any) -> dict[str, str]:
    """Return the storage that an update of the CloudFormation stack deletes: types by name.

    `old` and `new` are template bodies as text; an unknown template deletes nothing.
    """
    before, after = _made(old), _made(new)
    if after is None or before is None:
        return {}
    gone = {name: entry for name, entry in before.items() if name not in after}
    return {name: entry["StorageType"] for name, entry in gone.items() if _goes(entry)}


def cluster_configurations(template: Any) -> list[Mapping[str, Any]] | None:
    """Return the configurations of a template's clusters; None if this is not a template."""
    try:
        resources = json.loads(template)["Resources"].values()
    except (TypeError, ValueError, KeyError, AttributeError):
        return None
    clusters = (each["Properties"] for each in resources if each.get("Type") == CLUSTER)
    return [cluster["ClusterConfiguration"] for cluster in clusters]


def _goes(entry: Mapping[str, Any]) -> bool:
    # The default of ParallelCluster is Delete.
    return _settings(entry).get("DeletionPolicy", "Delete") == "Delete"


def _made(template: Any) -> dict[str, Mapping[str, Any]] | None:
    """Return the managed storage entries by name; None if this is not a template."""
    clusters = cluster_configurations(template)
    if clusters is None:
        return None
    storage = [entry for cluster in clusters for entry in cluster.get("SharedStorage") or ()]
    return {entry["Name"]: entry for entry in storage if not _is_existing(entry)}


def _is_existing(entry: Mapping[str, Any]) -> bool:
    return any(key in _settings(entry) for key in _EXISTING)


def _settings(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    return next((entry[key] for key in _SETTINGS if key in entry), {})


# Compute resources of a Slurm cluster whose nodes leave their reservation or end in an update.
#
# A stack has one CloudFormation resource for the whole cluster, so the steps of the engine do not
# show them.
#
# Source:
#     https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html,
#         `CapacityReservationTarget` and `CapacityType` of queues and compute resources
#     https://github.com/aws/aws-parallelcluster-cookbook, `update_head_node.rb` of Slurm
#         (`update_nodes_in_queue`): a change of one reservation ends all nodes of its queue, with
#         `TERMINATE` at once


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


# What an update would lose: data, a cluster with its workloads, or a place in a reservation.
#
# Sources:
#     https://docs.aws.amazon.com/fsx/latest/APIReference/API_DeleteFileSystem.html
#     https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_DeleteRepository.html
#     https://docs.aws.amazon.com/eks/latest/userguide/delete-cluster.html
#     https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html


Kind = Literal["data", "cluster", "network", "capacity", "storage of the cluster"]

SLURM_CLUSTER = "aws:cloudformation/stack:Stack"
RESERVATION_GROUP = "aws:resourcegroups/group:Group"
_POOL = "AWS::EC2::CapacityReservationPool"

_HOLDS: Mapping[str, tuple[Kind, str]] = {
    "aws:fsx/lustreFileSystem:LustreFileSystem": (
        "data",
        "every file that is not in a linked S3 bucket",
    ),
    "aws:fsx/openZfsFileSystem:OpenZfsFileSystem": ("data", "every file and snapshot in it"),
    "aws:fsx/openZfsVolume:OpenZfsVolume": ("data", "every file and snapshot in it"),
    "aws:efs/fileSystem:FileSystem": ("data", "every file in the file system"),
    "aws:ebs/volume:Volume": ("data", "everything on the volume"),
    "aws:ecr/repository:Repository": ("data", "every image in the repository"),
    "kubernetes:core/v1:PersistentVolume": (
        "data",
        "the volume through which pods mount their file system: pods that use it cannot restart",
    ),
    "kubernetes:core/v1:PersistentVolumeClaim": (
        "data",
        "the claim through which pods mount their file system: pods that use it cannot restart",
    ),
    SLURM_CLUSTER: (
        "cluster",
        "the head node with /home, the queues with their jobs, and shared storage that is not kept",
    ),
    "aws:eks/cluster:Cluster": (
        "cluster",
        "the control plane: every workload, Secret and volume claim of the cluster",
    ),
    "aws:ec2/vpc:Vpc": ("network", "the network, after everything in it is deleted"),
    "aws:ec2/capacityReservation:CapacityReservation": (
        "capacity",
        "the reservation: other AWS customers can take its capacity immediately",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """An object that would be deleted, with its content."""

    step: PlannedStep
    name: str
    """Name with which the user allows the deletion."""
    kind: Kind
    lost: str
    """What is lost with it."""
    capacity: Reserved | None = None
    """The reserved capacity whose nodes are lost."""
    moves_to: Reserved | None = None
    """The reserved capacity that the nodes get instead; None if they are deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collision:
    """Two node groups that would need the instances of one reservation at the same time."""

    comes: PlannedStep
    goes: PlannedStep
    capacity: Reserved


def losses(steps: Iterable[PlannedStep]) -> tuple[Loss, ...]:
    """Return all losses of an update, in the engine's order."""
    found = tuple(steps)
    groups = ReservedGroups(found)
    return tuple(loss for step in found for loss in _losses_of(step, groups))


def _losses_of(step: PlannedStep, groups: ReservedGroups) -> Iterator[Loss]:
    if step.type == SLURM_CLUSTER and step.operation == "update":
        yield from _storage_losses(step)
        for leaving in leaving_nodes(step.old.get("templateBody"), step.new.get("templateBody")):
            yield from _leaving(step, leaving)
    if step.operation == "update":
        yield from _moved(step, groups)
    # A retained object stays in the account unchanged.
    if step.operation not in ("delete", "replace") or step.retained:
        return
    capacity = groups.capacity_of(step, "old")
    if capacity is not None:
        lost = f"{_nodes(desired_nodes(step, 'old'))} in {capacity.words}, and the jobs on them"
        yield Loss(step=step, name=step.name, kind="capacity", lost=lost, capacity=capacity)
    elif step.type == RESERVATION_GROUP and _is_pool(step):
        lost = "the group that node groups launch into: they can launch no further nodes"
        yield Loss(step=step, name=step.name, kind="capacity", lost=lost)
    elif step.type in _HOLDS:
        kind, lost = _HOLDS[step.type]
        yield Loss(step=step, name=step.name, kind=kind, lost=lost)


def _storage_losses(step: PlannedStep) -> Iterator[Loss]:
    gone = deleted_storage(step.old.get("templateBody"), step.new.get("templateBody"))
    for name, storage_type in gone.items():
        yield Loss(
            step=step,
            name=f"{step.name}/{name}",
            kind="storage of the cluster",
            lost=f"everything in the shared storage {name} ({storage_type})",
        )


_LEAVE = {
    AUTO_SCALING_GROUP: (
        "they are not drained before the block ends, and none is replaced until the next one starts"
    ),
    COMPUTE_ENVIRONMENT: "they end with their jobs, and no node starts in the block again",
}
"""What an update to another reservation means for nodes that run in a block. EKS refuses it for
managed node groups; see `running_blocks`.

https://docs.aws.amazon.com/batch/latest/userguide/infrastructure-updates.html
"""


def _moved(step: PlannedStep, groups: ReservedGroups) -> Iterator[Loss]:
    was, becomes = (groups.capacity_of(step, side) for side in ("old", "new"))
    # An id that is not known yet is that of a group that the stack creates: no Capacity Block.
    if was is None or not was.is_block or was == becomes or step.type not in _LEAVE:
        return
    lost = f"{_nodes(desired_nodes(step, 'old'))} in {was.words}: {_LEAVE[step.type]}"
    yield Loss(
        step=step, name=step.name, kind="capacity", lost=lost, capacity=was, moves_to=becomes
    )


def _leaving(step: PlannedStep, leaving: LeavingNodes) -> Iterator[Loss]:
    """Yield the nodes of a Slurm cluster that end, as `queue_update_strategy` says.

    Nodes that move between On-Demand Capacity Reservations lose nothing that they cannot get back.
    """
    if leaving.becomes is not None and not leaving.was.is_block:
        return
    yield Loss(
        step=step,
        name=f"{step.name}/{leaving.name}",
        kind="capacity",
        lost=f"{_nodes(leaving.nodes)} in {leaving.was.words}, and the jobs on them",
        capacity=leaving.was,
        moves_to=leaving.becomes,
    )


def _nodes(number: int) -> str:
    """Return a number of nodes as text; 0 means that the number depends on jobs."""
    if number == 1:
        return "its node"
    return f"its {number} nodes" if number else "its nodes"


def _is_pool(step: PlannedStep) -> bool:
    configurations = step.old.get("configurations") or ()
    return any(each.get("type") == _POOL for each in configurations)


_NEW_NODES = frozenset({"launchTemplate", "releaseVersion", "version"})
"""Properties whose change replaces the nodes of a managed node group."""


def running_blocks(steps: Iterable[PlannedStep]) -> tuple[PlannedStep, ...]:
    """Return the managed Capacity Block groups whose nodes an update would change.

    EKS updates such a group only while its desired size is 0, so the update would fail halfway.
    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
    """
    return tuple(
        step
        for step in steps
        if step.type == NODE_GROUP
        and step.operation == "update"
        and step.old.get("capacityType") == "CAPACITY_BLOCK"
        and desired_nodes(step, "old") > 0
        and not _NEW_NODES.isdisjoint(step.changed_properties)
    )


def collisions(steps: Iterable[PlannedStep], instances: Mapping[str, int]) -> tuple[Collision, ...]:
    """Return the node groups that start in a reservation before other groups release it.

    A renamed pool is a new resource, and the engine creates new resources before it deletes old
    ones. If the reservation does not have enough instances for both, the new nodes never start. The
    same applies to a Slurm cluster with another name, and to the replacement of an AWS Batch
    compute environment: the new one is created before the old one is deleted, because the queue
    keeps the old one in use. In an infrastructure update, Batch also starts new nodes first.
    https://docs.aws.amazon.com/batch/latest/userguide/infrastructure-updates.html

    Args:
        steps: The steps of the update.
        instances: Instance count of each reservation, by id; a missing reservation counts as full.
    """
    found = tuple(steps)
    groups = ReservedGroups(found)
    coming = [step for step in found if step.operation == "create"]
    going = [step for step in found if step.operation == "delete"]
    pairs = [(comes, goes) for comes in coming for goes in going]
    among_groups = [pair for pair in pairs if all(map(_is_group, pair))]
    among_groups += [(step, step) for step in found if _is_beside_itself(step)]
    of_groups = (
        Collision(comes=comes, goes=goes, capacity=capacity)
        for comes, goes in among_groups
        if (capacity := groups.capacity_of(comes, "new")) is not None
        and capacity == groups.capacity_of(goes, "old")
        and not _fit(comes, goes, instances.get(capacity.target, 0))
    )
    of_clusters = (
        Collision(comes=comes, goes=goes, capacity=capacity)
        for comes, goes in pairs
        if comes.type == goes.type == SLURM_CLUSTER
        for capacity in full_reservations(
            goes.old.get("templateBody"), comes.new.get("templateBody"), instances
        )
    )
    return (*of_groups, *of_clusters)


def _is_group(step: PlannedStep) -> bool:
    return step.type in (NODE_GROUP, AUTO_SCALING_GROUP, COMPUTE_ENVIRONMENT)


def _is_beside_itself(step: PlannedStep) -> bool:
    if step.type != COMPUTE_ENVIRONMENT:
        return False
    return step.operation == "replace" or (step.operation == "update" and _gets_other_nodes(step))


_SCALING = frozenset({"minVcpus", "maxVcpus", "desiredVcpus"})
"""Properties that change only the number of nodes.

https://docs.aws.amazon.com/batch/latest/userguide/scaling-updates.html
"""


def _gets_other_nodes(step: PlannedStep) -> bool:
    parts = (re.split(r"[.\[]", path) for path in step.changed)
    return any(
        each[0] == "computeResources" and "".join(each[1:2]) not in _SCALING for each in parts
    )


def _fit(comes: PlannedStep, goes: PlannedStep, instances: int) -> bool:
    wanted = nodes_that_come(comes)
    return wanted == 0 or wanted + nodes_that_go(goes) <= instances

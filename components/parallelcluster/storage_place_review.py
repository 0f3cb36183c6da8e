"""Checks that nodes can reach the shared storage.

Source: `ManagedFsxMultiAzValidator`, `MultiAzEbsVolumeValidator` and `add_managed_fsx` of the
package `aws-parallelcluster`, version 3.16.1: it creates FSx for Lustre in the common subnet of all
queues, and EBS volumes in the zone of the head node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trainyard.components.config.efs import NewEfs
from trainyard.components.config.fsx_lustre import NewFsxLustre
from trainyard.components.config.parallelcluster_nodes import ComputeResource, Queue
from trainyard.components.config.parallelcluster_stack import ParallelClusterStackConfig
from trainyard.components.config.review import Review
from trainyard.components.network.network_plan import NetworkPlan

_IN_A_VPC = ("existing-fsx-lustre", "existing-efs", "existing-fsx-openzfs")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoragePlace:
    """The surroundings of the shared storage of a cluster."""

    network: NetworkPlan
    queue_subnets: tuple[str, ...]
    """Subnet references of all queues; candidates if only the account knows them."""
    head_subnets: tuple[str, ...]
    subnets_known: bool
    """Whether the account was queried, so that unknown values stay unknown."""


def review_places(config: ParallelClusterStackConfig, place: StoragePlace, review: Review) -> None:
    """Record storage that ParallelCluster cannot create or nodes cannot reach."""
    for name, wanted in config.storage.items():
        if wanted.kind in _IN_A_VPC and not place.network.exists:
            _refuse_new_vpc(name, wanted.kind, review)
        if isinstance(wanted, NewFsxLustre):
            _review_lustre(name, config, place, review)
        if isinstance(wanted, NewFsxLustre | NewEfs) and not place.network.exists:
            _review_protection(name, protected=wanted.deletion_protection, review=review)
        if wanted.kind.endswith("ebs"):
            _note_other_zones(name, place, review)


def _refuse_new_vpc(name: str, kind: str, review: Review) -> None:
    review.refuse(
        f"storage.{name}.kind",
        "is an existing file system, which cannot be in a new VPC",
        found=kind,
        allowed=f"{kind.removeprefix('existing-')}, or network.kind: existing-vpc",
        remedy=(
            "use the VPC of the file system with network.kind: existing-vpc, or create a new file "
            "system"
        ),
    )


def _review_protection(name: str, *, protected: bool, review: Review) -> None:
    if not protected:
        return
    key = f"storage.{name}.deletion_protection"
    review.refuse(
        key,
        (
            "keeps a file system in a VPC that `destroy` deletes: AWS does not delete a subnet "
            "with a file system, so `destroy` would fail halfway"
        ),
        found=True,
        allowed="false with network.kind: new-vpc",
        remedy=(
            f"{review.set_command(key, 'false')}, and its data is deleted with the cluster; or use "
            "a VPC outside of the stack, with network.kind: existing-vpc"
        ),
    )


def _review_lustre(
    name: str, config: ParallelClusterStackConfig, place: StoragePlace, review: Review
) -> None:
    if len(place.queue_subnets) < 2:
        return
    if not place.subnets_known and not _spread(config, place.network):
        review.note(
            f"storage {name}: ParallelCluster creates it in the subnet of the queues, which can "
            "only be read from the account"
        )
        return
    first = next(iter(config.architecture.queues))
    review.refuse(
        f"storage.{name}.kind",
        "is created by ParallelCluster, which then requires the same subnet for all queues; these "
        "are in " + ", ".join(place.queue_subnets),
        found="fsx-lustre",
        allowed="queues in one subnet, or existing-fsx-lustre",
        remedy=(
            "use the same subnet for every queue, as in "
            f"architecture.queues.{first}.availability_zone or subnet_ids; or create the file "
            "system in a separate stack, and mount it as kind: existing-fsx-lustre"
        ),
        rules=("F8",),
    )


def _spread(config: ParallelClusterStackConfig, network: NetworkPlan) -> bool:
    """Return whether the stack file places queues in several subnets."""
    queues = config.architecture.queues.values()
    given = {subnet for queue in queues for subnet in queue.subnet_ids}
    several = len(network.private_subnets) > 1
    return len(given) > 1 or (several and any(_goes_anywhere(q, config) for q in queues))


def _goes_anywhere(queue: Queue, config: ParallelClusterStackConfig) -> bool:
    bought = [queue.purchase_option, *(r.purchase_option for r in _resources(queue))]
    return not (
        queue.subnet_ids
        or queue.availability_zone
        or any(option in config.reservations for option in bought)
        or any(resource.efa_enabled for resource in _resources(queue))
    )


def _resources(queue: Queue) -> tuple[ComputeResource, ...]:
    return tuple(queue.compute_resources.values())


def _note_other_zones(name: str, place: StoragePlace, review: Review) -> None:
    head = _zones(place.head_subnets, place.network)
    others = _zones(place.queue_subnets, place.network) - head
    if len(head) == 1 and others:
        review.note(
            f"storage {name}: the volume is in {head.pop()} with the head node; traffic from nodes "
            f"in {', '.join(sorted(others))} is slower, and AWS charges for it"
        )


def _zones(subnets: Sequence[str], network: NetworkPlan) -> set[str]:
    known = {subnet.name: subnet.availability_zone for subnet in network.subnets}
    return {zone for zone in map(known.get, subnets) if zone}

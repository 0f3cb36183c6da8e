"""The plan of the shared storage of a ParallelCluster stack."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.components.config.open_zfs import NewFsxOpenZfs
from trainyard.components.config.parallelcluster_stack import ParallelClusterStackConfig
from trainyard.components.config.review import Review
from trainyard.components.config.storage import FileSystem
from trainyard.components.network.network_plan import NetworkPlan
from trainyard.components.parallelcluster.mount_directory_review import review_mount_directories
from trainyard.components.parallelcluster.plan import SharedStoragePlan
from trainyard.components.parallelcluster.storage_place_review import StoragePlace, review_places
from trainyard.components.parallelcluster.storage_review import review_storage
from trainyard.components.parallelcluster.storage_settings import (
    is_new,
    storage_settings,
    storage_type,
)
from trainyard.components.storage.open_zfs_plan import OpenZfsPlan, plan_open_zfs
from trainyard.components.storage.subnet_place import given_subnets
from trainyard.components.tagging import common_tags


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedStorage:
    """Shared storage of a cluster, and the file systems that the stack itself creates."""

    entries: tuple[SharedStoragePlan, ...]
    """Sorted by name."""
    open_zfs: tuple[OpenZfsPlan, ...]


def plan_shared_storage(
    config: ParallelClusterStackConfig,
    network: NetworkPlan,
    *,
    queue_subnets: tuple[str, ...],
    head_subnets: tuple[str, ...],
    review: Review,
    subnets_known: bool,
) -> SharedStorage:
    """Return the shared storage of a cluster; record problems.

    Args:
        config: The stack.
        network: The network plan.
        queue_subnets: Subnet references of all queues; candidates if only the account knows them.
        head_subnets: The same for the head node.
        review: Records problems and notes.
        subnets_known: Whether the account was queried, so that unknown values stay unknown.
    """
    place = StoragePlace(
        network=network,
        queue_subnets=queue_subnets,
        head_subnets=head_subnets,
        subnets_known=subnets_known,
    )
    review_storage(config, review)
    review_mount_directories(config, review)
    review_places(config, place, review)
    return SharedStorage(
        entries=tuple(_entry(name, wanted) for name, wanted in config.storage.items()),
        open_zfs=tuple(
            _open_zfs(name, wanted, config, place, review)
            for name, wanted in config.storage.items()
            if isinstance(wanted, NewFsxOpenZfs)
        ),
    )


def _entry(name: str, wanted: FileSystem) -> SharedStoragePlan:
    return SharedStoragePlan(
        name=name,
        mount_directory=wanted.mount_directory or "",
        type=storage_type(wanted),
        settings=storage_settings(name, wanted),
        # The stack does not delete existing file systems.
        retained=not is_new(wanted) or getattr(wanted, "deletion_protection", False),
    )


def _open_zfs(
    name: str,
    wanted: NewFsxOpenZfs,
    config: ParallelClusterStackConfig,
    place: StoragePlace,
    review: Review,
) -> OpenZfsPlan:
    given = given_subnets(
        name, wanted, place.network, subnets_known=place.subnets_known, review=review
    )
    return plan_open_zfs(
        name,
        wanted,
        subnets=given or _beside_queues(name, place, review),
        clients=tuple(dict.fromkeys((*place.head_subnets, *place.queue_subnets))),
        tags=common_tags(config.name, config.tags),
    )


def _beside_queues(name: str, place: StoragePlace, review: Review) -> tuple[str, ...]:
    """Return the subnet of the first queue, which the other queues can reach too."""
    if len(place.queue_subnets) < 2:
        return place.queue_subnets
    if not place.subnets_known:
        review.note(
            f"storage {name}: is in the first subnet of the queues, which can only be read from "
            "the account"
        )
        return place.queue_subnets
    review.note(
        f"storage {name}: is in {place.queue_subnets[0]}; traffic from nodes in other zones is "
        "slower, and AWS charges for it"
    )
    return place.queue_subnets[:1]

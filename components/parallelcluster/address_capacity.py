"""Checks that subnets have enough addresses for the nodes and file systems of a cluster.

Source: `add_network_interfaces` of `pcluster/templates/queues_stack.py` and `_add_head_node` of
`cluster_stack.py`, aws-parallelcluster 3.16.1.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.config.fsx_lustre import capacity_rule
from trainyard.components.config.problems import Review
from trainyard.components.network.address_capacity import AddressNeed, needs_of, review_new_subnets
from trainyard.components.parallelcluster.plan import (
    HeadNodePlan,
    ParallelClusterPlan,
    SharedStoragePlan,
)
from trainyard.components.parallelcluster.queue_plan import ComputeResourcePlan


def addresses_by_subnet(plan: ParallelClusterPlan) -> dict[str, AddressNeed]:
    """Return the maximum addresses needed in each subnet by what can only be in that subnet.

    A queue with several subnets can use any of them and is not counted.
    """
    return needs_of(_taken(plan))


def review_address_capacity(plan: ParallelClusterPlan, review: Review) -> None:
    """Refuse new subnets that are too small."""
    review_new_subnets(
        addresses_by_subnet(plan),
        plan.network,
        review,
        takers="interfaces",
        remedy="or fewer nodes",
    )


def addresses_of_node(resource: ComputeResourcePlan) -> int:
    """Return the number of addresses that one node uses.

    With EFA, all interfaces except the first are `efa-only`, without an address. Without EFA, each
    network card has one interface with an address.
    """
    return 1 if resource.efa_enabled else len(resource.instance_type.network_cards)


def _taken(plan: ParallelClusterPlan) -> Iterator[tuple[str, int, str]]:
    if len(plan.head_node.subnets) == 1:
        yield plan.head_node.subnets[0], _addresses_of_head_node(plan.head_node), "the head node"
    for queue in plan.queues:
        if len(queue.subnets) == 1:
            for resource in queue.compute_resources:
                taken = resource.maximum * addresses_of_node(resource)
                yield queue.subnets[0], taken, f"{queue.name}/{resource.name}"
    yield from _taken_by_storage(plan)


def _addresses_of_head_node(head_node: HeadNodePlan) -> int:
    known = INSTANCE_TYPES.get(head_node.instance_type)
    return len(known.network_cards) if known is not None else 1


def _taken_by_storage(plan: ParallelClusterPlan) -> Iterator[tuple[str, int, str]]:
    # ParallelCluster creates Lustre in the subnet of the queues and refuses several subnets.
    subnets = {subnet for queue in plan.queues for subnet in queue.subnets}
    if len(subnets) == 1:
        (subnet,) = subnets
        for storage in plan.shared_storage:
            if storage.type == "FsxLustre" and "FileSystemId" not in storage.settings:
                yield subnet, lustre_addresses(storage), f"storage {storage.name}"
    for system in plan.open_zfs:
        if len(system.subnets) == 1:
            # One per file server; a highly available file system has two:
            # https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/availability-durability.html
            servers = 2 if "_HA_" in system.deployment_type else 1
            yield system.subnets[0], servers, f"storage {system.name}"


def lustre_addresses(storage: SharedStoragePlan) -> int:
    """Return the addresses of a new file system: one per server, including the metadata servers.

    https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html#ip-addesses-for-fs
    """
    settings = storage.settings
    rule = capacity_rule(
        settings["DeploymentType"],
        settings.get("StorageType", "SSD"),
        settings.get("PerUnitStorageThroughput"),
        efa=False,
    )
    return 1 + (-(-settings["StorageCapacity"] // rule.step) if rule else 1)

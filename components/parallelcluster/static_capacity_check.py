"""Refuse a new cluster whose static nodes do not fit into the free part of their reservation.

ParallelCluster creates a cluster only when its static nodes run: the head node waits for them, and
then the creation fails and rolls back. After the creation, nodes without capacity wait in Slurm.

Sources:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/slurm-workload-manager-v3.html, "Cluster
    capacity size and update"
    https://github.com/aws/aws-parallelcluster/issues/3373: the creation waits for static capacity
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.components.account.facts import AccountFacts, ReservationFacts
from trainyard.components.account.reservation_holders import Holders, held_text
from trainyard.components.account.reservations import (
    DESCRIBE,
    found_reservations,
    reservation_ids,
)
from trainyard.components.checks.check import Subject
from trainyard.components.config.parallelcluster import resource_key
from trainyard.components.config.parallelcluster_stack import ParallelClusterStackConfig
from trainyard.components.config.problems import ROOT, Problem, set_command
from trainyard.components.config.reservations import CapacityBlock

STATIC_CAPACITY = Subject(
    "reservations", "the static nodes of a new cluster can launch now", calls=(DESCRIBE,)
)
"""What `static_capacity_problems` checks."""


def full_reservations(config: ParallelClusterStackConfig, facts: AccountFacts) -> list[str]:
    """Return the ids of reservations that are too full for the nodes of a new cluster."""
    if facts.deployed_cluster is not None:
        return []
    return [
        identifier
        for name, reservation in config.reservations.items()
        if _missing(found_reservations(reservation, facts), _static_nodes(name, config))
        for identifier in reservation_ids(reservation, facts.reservation_groups)
    ]


def static_capacity_problems(
    config: ParallelClusterStackConfig, facts: AccountFacts, *, stack_file: str
) -> Iterator[Problem]:
    """Yield reservations with fewer available instances than a new cluster has static nodes.

    Instances with the name of the cluster are its own: a creation that continues uses them.
    """
    if facts.deployed_cluster is not None:
        return
    for name, reservation in config.reservations.items():
        found = found_reservations(reservation, facts)
        static = _static_nodes(name, config)
        held = [facts.reservation_holders.get(each.reservation_id) for each in found]
        own = sum(len((each or {}).get(config.name, ())) for each in held)
        if _missing(found, static) > own:
            free = own + sum(each.available_count or 0 for each in found)
            yield Problem(
                path=f"{ROOT}.reservations.{name}",
                found="; ".join(map(_held, found, held)),
                problem=(
                    f"{free} of {sum(each.instance_count for each in found)} instances are "
                    f"available, and the new cluster has {sum(static.values())} static nodes; "
                    "ParallelCluster waits for them, then fails and rolls back"
                ),
                remedy="terminate the instances that hold it, or use another reservation"
                + _fewer(
                    static, free, block=isinstance(reservation, CapacityBlock), file=stack_file
                ),
            )


def _static_nodes(name: str, config: ParallelClusterStackConfig) -> dict[str, int]:
    """Return the static nodes that a reservation must hold, by key of their number."""
    return {
        f"{resource_key(queue_name, nodes_name, nodes)}.minimum": nodes.minimum
        for queue_name, queue in config.architecture.queues.items()
        for nodes_name, nodes in queue.compute_resources.items()
        if (nodes.purchase_option or queue.purchase_option) == name and nodes.minimum
    }


def _missing(found: list[ReservationFacts], static: Mapping[str, int]) -> int:
    """Return how many static nodes cannot launch now; 0 if the account does not say.

    A Capacity Block that has not started has no nodes yet.
    """
    if not found or any(each.state != "active" or each.available_count is None for each in found):
        return 0
    free = sum(each.available_count or 0 for each in found)
    return max(0, sum(static.values()) - free)


def _fewer(static: Mapping[str, int], free: int, *, block: bool, file: str) -> str:
    """Return the way with fewer static nodes; empty in a Capacity Block, where all are static."""
    if block or len(static) > 1:
        return ""
    (key,) = static
    command = set_command(f"{ROOT}.{key}", str(free), stack_file=file)
    return f"; or create the cluster with fewer static nodes: {command}"


def _held(reservation: ReservationFacts, holders: Holders | None) -> str:
    used = reservation.instance_count - (reservation.available_count or 0)
    held = f"{used} used" if holders is None else held_text(holders, used=used, ids=False)
    return f"{reservation.reservation_id}: {held}"

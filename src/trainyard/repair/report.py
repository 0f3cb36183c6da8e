"""What a person reads before a repair: which nodes, why, and what runs on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trainyard.diagnosis.failed_pool import ReservationUse
from trainyard.repair.decision import Cluster, Decision, Repair
from trainyard.repair.nodes import RunningPod


def report(
    decision: Decision, cluster: Cluster, pods: Mapping[str, Sequence[RunningPod]]
) -> Iterator[str]:
    """Yield the lines about a decision.

    Args:
        decision: The decision.
        cluster: The cluster that it is about.
        pods: Pods that the drain of a node evicts, by name of the node.
    """
    for title, repairs in (
        ("replaced now", decision.now),
        ("replaced when other nodes are Ready again", decision.later),
    ):
        for each in repairs:
            yield _line(each, title)
            yield from _consequences(each, cluster, pods.get(each.node.name, ()))
    for each in decision.refused:
        yield _line(each, "not replaced")
        yield f"  why not: {each.obstacle}"
    for each in decision.suspected:
        yield _line(each, "watched")
    for group in cluster.groups:
        if not group.scaling_group:
            yield (
                f"node group {group.name} is left out: EKS has not created its Auto Scaling group, "
                "so it has no nodes"
            )
    for name, count in decision.replacing.items():
        yield f"node group {name} lacks {count} of its nodes, which launch, join or are not Ready"


def _line(repair: Repair, title: str) -> str:
    node = repair.node
    return (
        f"{node.name} ({node.instance_id}, node group {repair.group.name}) is {title}: "
        f"{repair.because}"
    )


def _consequences(repair: Repair, cluster: Cluster, pods: Sequence[RunningPod]) -> Iterator[str]:
    own = repair.group.reservation_of.get(repair.node.instance_id)
    use = cluster.reservations.get(own or "")
    if use is not None:
        yield f"  reservation: {_place(use)}"
    elif not repair.group.is_reserved:
        yield "  no reservation: EC2 may have no capacity for the replacement"
    for pod in pods:
        yield f"  evicted: {pod.described}"
    if not pods:
        yield "  evicted: no pods"


def _place(use: ReservationUse) -> str:
    taken = (
        "; instances of others that match its attributes can take the place in between"
        if use.is_open
        else ""
    )
    return f"{use.reservation_id}; the termination frees the place of the replacement{taken}"

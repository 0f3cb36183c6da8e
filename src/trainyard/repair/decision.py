"""Which nodes are bad, and which of them are replaced now, later or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from trainyard.components.capacity.schedule import in_minutes, nodes_leave_before_end
from trainyard.components.plain_text import shortened
from trainyard.diagnosis.failed_pool import ReservationUse
from trainyard.progress.durations import duration

# Whether the conditions and labels of a node say that it must be replaced.
#
# Sources:
#     https://docs.aws.amazon.com/eks/latest/userguide/node-repair.html, "Repair after"
#     https://docs.aws.amazon.com/eks/latest/userguide/node-health-nma.html
#     https://github.com/aws/eks-node-monitoring-agent, `pkg/manager/node_exporter.go`: a fault
#     that a
#         node does not recover from sets a condition to False; other faults are events


REPAIR_AFTER: Mapping[str, timedelta] = {
    "AcceleratedHardwareReady": timedelta(minutes=10),
    "ContainerRuntimeReady": timedelta(minutes=30),
    "KernelReady": timedelta(minutes=30),
    "NetworkingReady": timedelta(minutes=30),
    "StorageReady": timedelta(minutes=30),
    "Ready": timedelta(minutes=30),
}
"""How long EKS waits before it repairs a node with this condition. All but `Ready` come from the
node monitoring agent."""
_LONGEST_REASON = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition of a node, as in `status.conditions`."""

    type: str
    status: str
    """`True`, `False` or `Unknown`."""
    reason: str = ""
    message: str = ""
    since: datetime | None = None
    """`lastTransitionTime`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What a node says about itself."""

    bad_because: str = ""
    """Why it must be replaced; empty if nothing says so."""
    suspected: str = ""
    """A condition that has not lasted long enough; empty if there is none."""


def health_of(conditions: Iterable[Condition], *, now: datetime) -> Health:
    """Return the health of a node.

    Args:
        conditions: The conditions of the node; unknown types are ignored.
        now: The time in the cluster, timezone-aware.
    """
    bad: list[str] = []
    suspected: list[str] = []
    for each in conditions:
        wait = REPAIR_AFTER.get(each.type)
        if wait is None or not _is_wrong(each):
            continue
        lasted = now - each.since if each.since else timedelta(0)
        said = f"{each.type} is {each.status} for {_minutes(lasted)}{_why(each)}"
        if lasted >= wait:
            bad.append(said)
        else:
            suspected.append(f"{said}; a repair begins after {_minutes(wait)}")
    return Health(bad_because="; ".join(bad), suspected="; ".join(suspected))


def _is_wrong(condition: Condition) -> bool:
    # Without a heartbeat, the node controller sets `Ready` to Unknown.
    unknown = condition.type == "Ready" and condition.status == "Unknown"
    return condition.status == "False" or unknown


def _why(condition: Condition) -> str:
    said = ": ".join(filter(None, (condition.reason, " ".join(condition.message.split()))))
    return f" ({shortened(said, _LONGEST_REASON)})" if said else ""


def _minutes(lasted: timedelta) -> str:
    return duration(lasted.total_seconds() // 60 * 60)


# Which bad nodes are replaced now, which later, and which not at all.
#
# A node is replaced inside its reservation: its instance is terminated, and its Auto Scaling group
# launches another one into the place that becomes free.
#
# Sources:
#     https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-launch.html: after the
#         termination of an instance, it takes several minutes until another one can be launched
#     https://docs.aws.amazon.com/autoscaling/ec2/userguide/as-suspend-resume-processes.html
#     https://docs.aws.amazon.com/eks/latest/userguide/node-repair.html: EKS repairs no node while
#         more than 20 % of a group with more than five nodes are unhealthy


IN_SERVICE, _TERMINATING = "InService", "Terminat"
"""Lifecycle states of instances; the second is the beginning of several.
https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-lifecycle.html"""
REPLACEMENT_TIME = timedelta(minutes=30)
"""Time until a replacement is Ready: several minutes until the place in a Capacity Block is free,
up to 10 minutes for the launch of a p5.48xlarge, and the start of the node."""
_NEEDED_PROCESSES = ("Launch", "Terminate")
_LARGE_GROUP, _MOST_BAD_SHARE = 5, 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What `verify` has found out about a node."""

    result: str = ""
    """`passed` or `failed`; empty if it was not tested."""
    at: str = ""
    """Time of the test, equal for all nodes that were tested together."""
    failures: str = ""
    """The failed stages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node of the cluster."""

    name: str
    uid: str
    instance_id: str
    is_ready: bool
    health: Health
    verification: Verification = Verification()
    has_begun: bool = False
    """Whether an earlier repair of it was interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A node group with its Auto Scaling group."""

    name: str
    """Entry in the stack file."""
    scaling_group: str
    """Name of the Auto Scaling group; empty before EKS has created one."""
    desired: int
    instances: Mapping[str, str]
    """Lifecycle state by instance id."""
    at_once: int
    """Most nodes that may be missing because of repairs."""
    repaired_by_eks: bool = False
    """Whether EKS repairs the nodes of the group (`auto_repair`)."""
    suspended: tuple[str, ...] = ()
    """Suspended processes of the Auto Scaling group."""
    is_reserved: bool = False
    """Whether its instances launch into reservations only."""
    targets: tuple[str, ...] = ()
    """Ids of the reservations of its launch template, as far as they are known."""
    reservation_of: Mapping[str, str] = field(default_factory=dict[str, str])
    """Id of the reservation in which an instance runs, by instance id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A node and why it is replaced, or is not."""

    node: Node
    group: Group
    because: str
    """Why the node is bad."""
    obstacle: str = ""
    """Why it is not replaced; empty if it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The bad nodes of a cluster."""

    now: tuple[Repair, ...]
    """Nodes to replace at the same time, in order."""
    later: tuple[Repair, ...]
    """Nodes to replace when others are Ready again, in order."""
    refused: tuple[Repair, ...]
    suspected: tuple[Repair, ...]
    """Nodes whose condition has not lasted long enough."""
    replacing: Mapping[str, int]
    """Number of nodes that a group lacks now, by its name; only groups that lack some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """What a decision depends on."""

    nodes: tuple[Node, ...]
    groups: tuple[Group, ...]
    reservations: Mapping[str, ReservationUse]
    """Reservations of the groups and their instances, by id."""


def decide(cluster: Cluster, *, now: datetime, named: str | None = None) -> Decision:
    """Return which nodes are replaced now, later, or not.

    Args:
        cluster: The cluster.
        now: The time in the account, timezone-aware.
        named: Name of the only node to replace, whatever its health; None for all bad nodes.
    """
    chosen: list[Repair] = []
    suspected: list[Repair] = []
    for node, group in _with_groups(cluster):
        if because := _reason(node, group, cluster, named):
            chosen.append(_judged(node, group, because, cluster, now, named))
        elif node.health.suspected and named is None:
            suspected.append(Repair(node=node, group=group, because=node.health.suspected))
    replacing = {
        group.name: lacking
        for group in cluster.groups
        if (lacking := missing(group, cluster, named=named))
    }
    # A repair that has begun comes first: its node takes no pods any more.
    chosen.sort(key=lambda each: (not each.node.has_begun, each.node.name))
    free = {each.name: each.at_once - replacing.get(each.name, 0) for each in cluster.groups}
    begin: list[Repair] = []
    later: list[Repair] = []
    for each in (one for one in chosen if not one.obstacle):
        fits = free[each.group.name] > 0
        (begin if fits else later).append(each)
        free[each.group.name] -= fits
    return Decision(
        now=tuple(begin),
        later=tuple(later),
        refused=tuple(each for each in chosen if each.obstacle),
        suspected=tuple(suspected),
        replacing=replacing,
    )


def missing(group: Group, cluster: Cluster, *, named: str | None = None) -> int:
    """Return how many nodes a group lacks: those that launch, join, or are not Ready yet.

    A node that is to be replaced is not missing.
    """
    counted = {
        node.instance_id
        for node in cluster.nodes
        if node.is_ready or node.has_begun or node.health.bad_because or node.name == named
    }
    present = [
        each for each, state in group.instances.items() if state == IN_SERVICE and each in counted
    ]
    return max(0, group.desired - len(present))


def _with_groups(cluster: Cluster) -> Iterator[tuple[Node, Group]]:
    """Yield the nodes of the groups, without those that leave them."""
    for node in cluster.nodes:
        for group in cluster.groups:
            state = group.instances.get(node.instance_id)
            if state is not None and not state.startswith(_TERMINATING):
                yield node, group


def _reason(node: Node, group: Group, cluster: Cluster, named: str | None) -> str:
    """Return why a node is to be replaced; empty if it is not."""
    bad = _bad(node, group, cluster)
    if named is not None:
        return (bad or "named with --node") if node.name == named else ""
    return bad or ("a repair that has begun was interrupted" if node.has_begun else "")


def _bad(node: Node, group: Group, cluster: Cluster) -> str:
    """Return why a node is bad; empty if it is not.

    If `verify` cannot tell which node is the cause, all tested nodes fail: then none is replaced.
    """
    tested = node.verification
    if node.health.bad_because or tested.result != "failed":
        return node.health.bad_because
    together = [
        each.verification.result
        for each in _nodes_of(group, cluster)
        if each.verification.at == tested.at
    ]
    if "passed" not in together:
        return ""
    return f"`verify` failed on it, and passed on others ({tested.failures or 'no stage named'})"


def _nodes_of(group: Group, cluster: Cluster) -> list[Node]:
    return [each for each in cluster.nodes if each.instance_id in group.instances]


def _judged(
    node: Node, group: Group, because: str, cluster: Cluster, now: datetime, named: str | None
) -> Repair:
    general = _of_group(node, group) or ("" if named else _of_scan(node, group, cluster))
    obstacle = general or _of_reservation(node, group, cluster.reservations, now)
    return Repair(node=node, group=group, because=because, obstacle=obstacle)


def _of_group(node: Node, group: Group) -> str:
    state = group.instances[node.instance_id]
    if state != IN_SERVICE:
        return f"its instance {node.instance_id} is {state} in Auto Scaling"
    stopped = [each for each in group.suspended if each in _NEEDED_PROCESSES]
    if stopped:
        return (
            f"its Auto Scaling group has suspended {' and '.join(stopped)}: no other instance "
            "would replace it; resume with `aws autoscaling resume-processes "
            f"--auto-scaling-group-name {group.scaling_group} --scaling-processes "
            f"{' '.join(stopped)}`"
        )
    return ""


def _of_scan(node: Node, group: Group, cluster: Cluster) -> str:
    """Return why a node that was found, and not named, is not replaced."""
    if group.repaired_by_eks and not node.has_begun:
        return "EKS replaces it, because the group has `auto_repair`"
    own = _nodes_of(group, cluster)
    bad = [each for each in own if _bad(each, group, cluster)]
    if len(own) > _LARGE_GROUP and len(bad) > _MOST_BAD_SHARE * len(own):
        return (
            f"{len(bad)} of {len(own)} nodes of the group are bad, which has another cause than a "
            "node; find it, or name one node with --node"
        )
    return ""


def _of_reservation(
    node: Node, group: Group, reservations: Mapping[str, ReservationUse], now: datetime
) -> str:
    if not group.is_reserved:
        return ""
    own = reservations.get(group.reservation_of.get(node.instance_id, ""))
    if own is not None:
        return _closed(own, now)
    targets = [reservations[each] for each in group.targets if each in reservations]
    usable = [each for each in targets if not _closed(each, now) and each.available > 0]
    if usable:
        return ""
    why = "; ".join(_closed(each, now) or each.described() for each in targets)
    return (
        "it runs in none of the group's reservations, so its termination frees no place in them"
        + (f", and {why}" if why else "")
    )


def _closed(use: ReservationUse, now: datetime) -> str:
    """Return why a reservation takes no replacement any more; empty if it does."""
    if use.state != "active":
        return use.described()
    least = nodes_leave_before_end(use.instance_type) + REPLACEMENT_TIME
    if use.ends_at is not None and use.ends_at - now < least:
        return (
            f"{use.reservation_id} ends in less than {in_minutes(least)}, and the replacement "
            "would be Ready shortly before its termination or not at all"
        )
    return ""


def names(repairs: Sequence[Repair]) -> str:
    """Return the names of the nodes, for a message."""
    return ", ".join(each.node.name for each in repairs)

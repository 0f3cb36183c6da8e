"""Whether the conditions and labels of a node say that it must be replaced.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/node-repair.html, "Repair after"
    https://docs.aws.amazon.com/eks/latest/userguide/node-health-nma.html
    https://github.com/aws/eks-node-monitoring-agent, `pkg/manager/node_exporter.go`: a fault that a
        node does not recover from sets a condition to False; other faults are events
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from trainyard.components.plain_text import shortened
from trainyard.progress.durations import duration

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

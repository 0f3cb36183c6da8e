"""Kinds of fault of clusters: no call fails, but a created resource never becomes ready.

The sandbox's emulations of nodes, plugins and reservations query these.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from trainyard.sandbox.faults.kind import Kind, Request, Schedule
from trainyard.sandbox.wsgi import Answer

if TYPE_CHECKING:
    from trainyard.sandbox.faults.fault import Fault

_KIND = "(?:-nodes|-node-group)?"
"""Suffix after the group's name in names of Auto Scaling groups and managed node groups, as the
resources of a stack have them: `p5-cb-p5-nodes-0c5d1e2`."""


class Condition(Kind):
    """A condition that holds while it is in force; it affects no call, so no calls are counted.

    Args:
        name: Name in the schedule.
        summary: One line of text.
        key: Key of the schedule for the affected object.
    """

    needs_call = False

    def __init__(self, name: str, summary: str, key: str) -> None:
        self.name, self.summary = name, summary
        self.keys = self.required = frozenset({key})


NODE_NEVER_JOINS = Condition(
    "node-never-joins", "instances of the node group run, and never become nodes", "node_group"
)
"""Instances run but never register with Kubernetes, Slurm or ECS."""
DEVICE_PLUGIN_NEVER_READY = Condition(
    "device-plugin-never-ready",
    "pods of the plugin (the value of their label `name`) crash, and it offers no device",
    "plugin",
)
"""Pods of a device plugin restart repeatedly on every node."""


class ReservationExpires(Kind):
    """A capacity reservation ends just before a call is processed."""

    name = "reservation-expires"
    summary = "the Capacity Block ends, or the reservation is cancelled, before the call's work"
    keys = frozenset({"reservation"})
    required = frozenset({"reservation"})

    def happen(self, fault: Fault, request: Request, faults: Schedule) -> Answer:
        """End the reservation, then process the call; reject it if there is no such reservation."""
        # Import here, because the account is still being initialized when this module is imported.
        from trainyard.sandbox.aws.ec2.capacity_blocks import end_reservation
        from trainyard.sandbox.aws.unimplemented import FAILURE_CODE, error_response

        if end_reservation(fault.reservation or ""):
            return request.answered()
        message = (
            f"the schedule of faults ends {fault.reservation}, and the account has no such "
            "reservation; `./trainyard sandbox inventory` lists those that it has"
        )
        return error_response(request.call, FAILURE_CODE, message)


class DeviceLost(Kind):
    """Devices of a node are unhealthy: they stay in its capacity, and leave what is allocatable.

    https://github.com/kubernetes/kubernetes/blob/v1.36.4/pkg/kubelet/cm/devicemanager/manager.go,
    `GetCapacity`
    """

    name = "device-lost"
    summary = "`devices` (1) of `resource` on a node of the group are unhealthy"
    needs_call = False
    keys = frozenset({"node_group", "resource", "devices", "nth", "times"})
    required = frozenset({"node_group", "resource"})


def never_joins(faults: Schedule, *names: str) -> bool:
    """Return whether instances of a group do not join, and count the fault.

    Args:
        faults: The schedule in force.
        names: Names of the group: in AWS, which contain the stack's name for it between hyphens, or
            in the stack.
    """
    for entry in faults.of_kind(NODE_NEVER_JOINS.name):
        if is_named(entry.fault.node_group or "", *names):
            faults.happened(entry)
            return True
    return False


def unhealthy_devices(
    faults: Schedule, node: str, groups: Sequence[str], devices: Mapping[str, int]
) -> dict[str, int]:
    """Return the number of unhealthy devices of a node by resource, and count the nodes hit.

    A replaced node is another one: it has its own turn.

    Args:
        faults: The schedule in force.
        node: Id of the node.
        groups: Names of its group, as for `never_joins`.
        devices: Number of its devices by resource.
    """
    found: dict[str, int] = {}
    for entry in faults.of_kind(DeviceLost.name):
        fault = entry.fault
        resource = fault.resource or ""
        if not devices.get(resource) or not is_named(fault.node_group or "", *groups):
            continue
        if node not in entry.judged:
            entry.matched += 1
            entry.judged[node] = fault.hits(entry.matched)
            entry.happened += entry.judged[node]
        if entry.judged[node]:
            found[resource] = found.get(resource, 0) + fault.devices
    return found


def is_named(wanted: str, *names: str) -> bool:
    """Return whether one of the names is wanted, or ends with it in the program's naming scheme.

    Such names consist of cluster, group and kind, and Pulumi's random suffix:
    `p5-cb-p5-nodes-0c5d1e2`.
    """
    of_ours = re.compile(rf"(?:^|.*-){re.escape(wanted)}{_KIND}(?:-?[0-9a-f]{{4,}})?")
    return any(fnmatchcase(name, wanted) or of_ours.fullmatch(name) for name in names)


def broken_plugins(faults: Schedule) -> Collection[str]:
    """Return the `name` label values of the pods that never become ready."""
    return {entry.fault.plugin or "" for entry in faults.of_kind(DEVICE_PLUGIN_NEVER_READY.name)}


def count_crash(faults: Schedule, plugin: str) -> None:
    """Count a crash of a plugin's pod, by the value of its `name` label."""
    for entry in faults.of_kind(DEVICE_PLUGIN_NEVER_READY.name):
        if entry.fault.plugin == plugin:
            faults.happened(entry)


KINDS_OF_CLUSTERS = (
    NODE_NEVER_JOINS,
    DEVICE_PLUGIN_NEVER_READY,
    ReservationExpires(),
    DeviceLost(),
)

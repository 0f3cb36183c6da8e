"""Steps of an update, as in the engine's preview."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from trainyard.changes.reserved_capacity import AUTO_SCALING_GROUP, LAUNCH_TEMPLATE, NODE_GROUP
from trainyard.changes.steps import Operation, PlannedStep, steps_of_events

BLOCK = "cr-0123456789abcdef0"
ODCR = "cr-00d00000000000001"


def step(
    operation: Operation,
    type_token: str,
    name: str,
    *,
    old: Mapping[str, Any] | None = None,
    new: Mapping[str, Any] | None = None,
    changed: tuple[str, ...] = (),
    reasons: tuple[str, ...] = (),
    retained: bool = False,
) -> PlannedStep:
    """Return the step of one resource; `old` and `new` inputs are empty by default."""
    return PlannedStep(
        operation=operation,
        urn=f"urn:pulumi:p5-cb::trainyard::trainyard:x:Y${type_token}::{name}",
        type=type_token,
        identifier="" if operation == "create" else f"{name}-1",
        old=old or {},
        new=new or {},
        changed=changed,
        reasons=reasons,
        retained=retained,
    )


def template(
    operation: Operation,
    pool: str,
    reservation: str,
    *,
    block: bool = False,
    next_one: str | None = None,
) -> PlannedStep:
    """Return the launch template of a pool in a reservation, or that moves to the next one."""
    market = {"instanceMarketOptions": {"marketType": "capacity-block"}} if block else {}
    old, new = (
        {
            "capacityReservationSpecification": {
                "capacityReservationTarget": {"capacityReservationId": each}
            },
            **market,
        }
        for each in (reservation, next_one or reservation)
    )
    sides = {"create": {"new": new}, "delete": {"old": old}}
    both = {"old": old, "new": new}
    name = f"{pool}-launch-template"
    return step(operation, LAUNCH_TEMPLATE, name, **sides.get(operation, both))


def managed(operation: Operation, pool: str, *, nodes: int = 2, **more: Any) -> PlannedStep:
    """Return the managed node group of a pool."""
    inputs = {"scalingConfig": {"desiredSize": nodes}}
    return step(operation, NODE_GROUP, f"{pool}-node-group", old=inputs, new=inputs, **more)


def self_managed(operation: Operation, pool: str, *, nodes: int = 2, **more: Any) -> PlannedStep:
    """Return the Auto Scaling group of a pool."""
    inputs = {"desiredCapacity": nodes}
    return step(operation, AUTO_SCALING_GROUP, f"{pool}-nodes", old=inputs, new=inputs, **more)


def event(operation: str, urn: str, type_token: str, **metadata: Any) -> str:
    """Return a line of the engine's event log for one step of a resource."""
    told = {"op": operation, "urn": urn, "type": type_token, **metadata}
    return json.dumps({"resourcePreEvent": {"metadata": told}})


def cluster_template(
    *storage: Mapping[str, Any], queues: Sequence[Any] = (), strategy: str = "DRAIN"
) -> str:
    """Return a template of a cluster with this shared storage and these queues."""
    scheduling = {
        "SlurmSettings": {"QueueUpdateStrategy": strategy},
        "SlurmQueues": list(queues),
    }
    config = {"SharedStorage": list(storage), "Scheduling": scheduling}
    properties = {"ClusterConfiguration": config}
    cluster = {"Type": "Custom::PclusterCluster", "Properties": properties}
    return json.dumps({"Resources": {"PclusterCluster": cluster}})


DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
STACK = "urn:pulumi:p5-cb::trainyard"
PARENT = f"{STACK}::trainyard:runtime:NvidiaDevicePlugin::p5-cb-plugins-nvidia"
URN = f"{STACK}::trainyard:runtime:NvidiaDevicePlugin${DAEMON_SET}::p5-cb-plugins-nvidia-daemon-set"
PROVIDER = f"{STACK}::pulumi:providers:kubernetes::p5-cb-kubernetes"
PLUGIN = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "nvidia-device-plugin-daemonset", "namespace": "kube-system"},
}
CLUSTER = "aws:eks/cluster:Cluster"


def created(inputs: dict[str, Any], urn: str = URN, type_: str = DAEMON_SET) -> str:
    new = {"inputs": inputs, "parent": PARENT, "provider": f"{PROVIDER}::0c5d"}
    return event("create", urn, type_, new=new)


def steps(*lines: str) -> tuple[PlannedStep, ...]:
    return steps_of_events(lines)


API = {
    "/apis/apps/v1": {
        "resources": [
            {"name": "daemonsets", "kind": "DaemonSet", "namespaced": True},
            {"name": "daemonsets/status", "kind": "DaemonSet", "namespaced": True},
        ]
    },
    "/api/v1": {
        "resources": [
            {"name": "persistentvolumes", "kind": "PersistentVolume", "namespaced": False}
        ]
    },
    "/apis/apps/v1/namespaces/kube-system/daemonsets/nvidia-device-plugin-daemonset": {"kind": "x"},
    "/api/v1/persistentvolumes/data": {"kind": "x"},
}

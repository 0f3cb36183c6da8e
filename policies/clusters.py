"""Compute resources of ParallelCluster, as a CloudFormation template declares them.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/cloudformation-v3.html and
https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from policies.props import UNKNOWN, is_true

CLUSTER = "Custom::PclusterCluster"
CAPACITY_BLOCK = "CAPACITY_BLOCK"


@dataclass(frozen=True, slots=True)
class ComputeResource:
    """How the nodes of one compute resource are bought and placed."""

    name: str
    """Its queue's name and its own, as `queue/compute-resource`."""
    capacity_type: str
    """`ONDEMAND`, `SPOT` or `CAPACITY_BLOCK`."""
    placement_group: Any
    """Name or id; `UNKNOWN` for one that ParallelCluster makes; None without one."""
    reservation: str | None
    """Id of a reservation, or ARN of a group of them."""


def compute_resources(template: object) -> Iterator[ComputeResource]:
    """Yield the compute resources of every cluster in a template that is JSON.

    Of a template that is not, or that is not known yet, nothing is told.
    """
    for resource in _section(_parsed(template), "Resources").values():
        if isinstance(resource, dict) and resource.get("Type") == CLUSTER:
            cluster = _section(_section(resource, "Properties"), "ClusterConfiguration")
            for queue in _items(_section(cluster, "Scheduling"), "SlurmQueues"):
                for nodes in _items(queue, "ComputeResources"):
                    yield _compute_resource(queue, nodes)


def _parsed(template: object) -> Mapping[str, Any]:
    try:
        document = json.loads(template) if isinstance(template, str) else None
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _compute_resource(queue: Mapping[str, Any], nodes: Mapping[str, Any]) -> ComputeResource:
    # What the compute resource says goes before what its queue says.
    target = _nearest(queue, nodes, "CapacityReservationTarget")
    return ComputeResource(
        name=f"{queue.get('Name')}/{nodes.get('Name')}",
        capacity_type=str(queue.get("CapacityType", "ONDEMAND")),
        placement_group=_placement_group(
            _nearest(_section(queue, "Networking"), _section(nodes, "Networking"), "PlacementGroup")
        ),
        reservation=target.get("CapacityReservationId")
        or target.get("CapacityReservationResourceGroupArn"),
    )


def _placement_group(section: Mapping[str, Any]) -> Any:
    named = section.get("Name") or section.get("Id")
    if "Enabled" in section and not is_true(section["Enabled"]):
        return None
    if named:
        return named
    return UNKNOWN if is_true(section.get("Enabled")) else None


def _nearest(outer: Mapping[str, Any], inner: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return _section(inner, name) or _section(outer, name)


def _section(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = document.get(name)
    return section if isinstance(section, dict) else {}


def _items(document: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    items = document.get(name)
    return [each for each in items if isinstance(each, dict)] if isinstance(items, list) else []

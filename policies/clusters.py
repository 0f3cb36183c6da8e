"""Compute resources of ParallelCluster, as a CloudFormation template declares them.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/cloudformation-v3.html and
https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from policies.documents import entries, members, objects, parsed
from policies.props import UNKNOWN, is_true, whole_number

CLUSTER = "Custom::PclusterCluster"
CAPACITY_BLOCK = "CAPACITY_BLOCK"


@dataclass(frozen=True, slots=True)
class ComputeResource:
    """How the nodes of one compute resource are bought, placed and counted."""

    name: str
    """Its queue's name and its own, as `queue/compute-resource`."""
    capacity_type: str
    """`ONDEMAND`, `SPOT` or `CAPACITY_BLOCK`."""
    placement_group: Any
    """Name or id; `UNKNOWN` for one that ParallelCluster makes; None without one."""
    reservation_id: str | None = None
    names_reservation: bool = False
    """Whether it has an id of a reservation, if only one that CloudFormation computes."""
    reservation_group: str | None = None
    """ARN of a group of reservations."""
    instance_types: tuple[str, ...] = ()
    flexible: bool = False
    """Whether the types are listed in `Instances`, from which Slurm launches whatever it gets."""
    subnets: tuple[str | None, ...] = ()
    """Ids of the subnets of its queue; None for one that CloudFormation computes."""
    minimum: int | None = None
    """`MinCount`, as `maximum` is `MaxCount`; None where the template says something computed."""
    maximum: int | None = None
    allocation_strategy: str | None = None
    operating_system: str | None = None
    """`Os` of the image, such as `alinux2023`."""
    efa: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Its section `Efa`."""
    placement: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The section `PlacementGroup` that counts for it: its own, or that of its queue."""
    public_address: bool = False
    """`AssignPublicIp` of its queue."""

    @property
    def reservation(self) -> str | None:
        """Id of a reservation, or ARN of a group of them."""
        return self.reservation_id or self.reservation_group


def clusters(template: object) -> Iterator[Mapping[str, Any]]:
    """Yield the configuration of every cluster in a template that is JSON.

    Of a template that is not, or that is not known yet, nothing is told.
    """
    document = _document(template) if isinstance(template, str) else {}
    for resource in members(document, "Resources").values():
        if isinstance(resource, dict) and resource.get("Type") == CLUSTER:
            yield members(members(resource, "Properties"), "ClusterConfiguration")


def compute_resources(template: object) -> Iterator[ComputeResource]:
    """Yield the compute resources of every cluster in a template."""
    for cluster in clusters(template):
        system = _text(members(cluster, "Image").get("Os"))
        for queue in objects(members(cluster, "Scheduling"), "SlurmQueues"):
            for nodes in objects(queue, "ComputeResources"):
                yield _compute_resource(queue, nodes, system)


# A dozen rules ask for the same text, one after the other.
@lru_cache(maxsize=8)
def _document(text: str) -> Mapping[str, Any]:
    document = parsed(text)
    return document if isinstance(document, dict) else {}


def _compute_resource(
    queue: Mapping[str, Any], nodes: Mapping[str, Any], system: str | None
) -> ComputeResource:
    # What the compute resource says goes before what its queue says.
    target = _nearest(queue, nodes, "CapacityReservationTarget")
    listed = [_text(each.get("InstanceType")) for each in objects(nodes, "Instances")]
    types = listed or [_text(nodes.get("InstanceType"))]
    networking = members(queue, "Networking")
    placement = _nearest(networking, members(nodes, "Networking"), "PlacementGroup")
    return ComputeResource(
        name=f"{queue.get('Name')}/{nodes.get('Name')}",
        capacity_type=str(queue.get("CapacityType", "ONDEMAND")),
        placement_group=_placement_group(placement),
        reservation_id=_text(target.get("CapacityReservationId")),
        names_reservation=bool(target.get("CapacityReservationId")),
        reservation_group=_text(target.get("CapacityReservationResourceGroupArn")),
        instance_types=tuple(each for each in types if each),
        flexible="Instances" in nodes,
        subnets=tuple(map(_text, entries(networking, "SubnetIds"))),
        # What is left out: https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
        minimum=whole_number(nodes.get("MinCount", 0)),
        maximum=whole_number(nodes.get("MaxCount", 10)),
        allocation_strategy=_text(queue.get("AllocationStrategy")),
        operating_system=system,
        efa=members(nodes, "Efa"),
        placement=placement,
        public_address=is_true(networking.get("AssignPublicIp")),
    )


def _placement_group(settings: Mapping[str, Any]) -> Any:
    named = settings.get("Name") or settings.get("Id")
    if "Enabled" in settings and not is_true(settings["Enabled"]):
        return None
    if named:
        return named
    return UNKNOWN if is_true(settings.get("Enabled")) else None


def _nearest(outer: Mapping[str, Any], inner: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return members(inner, name) or members(outer, name)


def _text(value: object) -> str | None:
    """Return a word; None for what is missing, and for what CloudFormation computes."""
    return value if isinstance(value, str) and value else None

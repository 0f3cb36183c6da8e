"""ParallelCluster compute resources, as a CloudFormation template declares them.

Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/cloudformation-v3.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from pulumi_policy import PolicyResource

from trainyard.policies.resources.props import (
    UNKNOWN,
    entries,
    is_true,
    members,
    objects,
    parsed,
    whole_number,
)
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import CLOUDFORMATION_STACK

CLUSTER = "Custom::PclusterCluster"
CAPACITY_BLOCK = "CAPACITY_BLOCK"


@dataclass(frozen=True, slots=True)
class ComputeResource:
    """Purchase option, placement, network and size of one compute resource."""

    name: str
    """`queue/compute-resource`."""
    capacity_type: str
    """`ONDEMAND`, `SPOT` or `CAPACITY_BLOCK`."""
    placement_group: Any
    """Name or id; `UNKNOWN` for a group that ParallelCluster creates; None without a group."""
    reservation_id: str | None = None
    names_reservation: bool = False
    """Whether it has the id of a reservation, including one that CloudFormation computes."""
    reservation_group: str | None = None
    """ARN of a group of reservations."""
    instance_types: tuple[str, ...] = ()
    flexible: bool = False
    """Whether the types are listed in `Instances`; Slurm launches any that has capacity."""
    subnets: tuple[str | None, ...] = ()
    """Ids of the subnets of its queue; None for an id that CloudFormation computes."""
    minimum: int | None = None
    """`MinCount`; None if CloudFormation computes it."""
    maximum: int | None = None
    """`MaxCount`; None if CloudFormation computes it."""
    allocation_strategy: str | None = None
    operating_system: str | None = None
    """`Os` of the image, such as `alinux2023`."""
    efa: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The section `Efa`."""
    placement: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The section `PlacementGroup` of the compute resource, or else of its queue."""
    public_address: bool = False
    """`AssignPublicIp` of its queue."""

    @property
    def where(self) -> str:
        """The beginning of a message about the compute resource."""
        return f"in its compute resource {self.name}, "

    @property
    def reservation(self) -> str | None:
        """Id of a reservation, or ARN of a group of reservations."""
        return self.reservation_id or self.reservation_group


def clusters(template: object) -> Iterator[Mapping[str, Any]]:
    """Yield the configuration of every cluster in a JSON template.

    A YAML template, or one that is not known yet, yields nothing.
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


def compute_resources_of(stack: Stack) -> Iterator[tuple[PolicyResource, ComputeResource]]:
    """Yield every compute resource of a stack, with the resource that holds its template."""
    for clusters in stack.of_type(CLOUDFORMATION_STACK):
        for nodes in compute_resources(stack.facts_of(clusters.urn).get("templateBody")):
            yield clusters, nodes


# Many rules read the same template.
@lru_cache(maxsize=8)
def _document(text: str) -> Mapping[str, Any]:
    document = parsed(text)
    return document if isinstance(document, dict) else {}


def _compute_resource(
    queue: Mapping[str, Any], nodes: Mapping[str, Any], system: str | None
) -> ComputeResource:
    # Settings of the compute resource override those of its queue.
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
        # Defaults: https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
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
    """Return a string; None if it is missing or if CloudFormation computes it."""
    return value if isinstance(value, str) and value else None

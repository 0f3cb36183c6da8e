"""Reserved capacity of node groups, according to their launch templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from trainyard.changes.steps import PlannedStep
from trainyard.components import naming
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.config.keys import mapping_of

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
AUTO_SCALING_GROUP = "aws:autoscaling/group:Group"
COMPUTE_ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment"
LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
_SUFFIXES = {
    NODE_GROUP: naming.MANAGED_NODE_GROUP,
    AUTO_SCALING_GROUP: naming.AUTO_SCALING_GROUP,
    COMPUTE_ENVIRONMENT: naming.COMPUTE_ENVIRONMENT,
}
_TEMPLATE_SUFFIX = naming.LAUNCH + naming.TEMPLATE
_TARGET = "capacityReservationTarget"

Side = Literal["old", "new"]


@dataclass(frozen=True, slots=True)
class Reserved:
    """The reserved capacity that a group launches into."""

    target: str
    """Reservation id, or ARN of the reservation resource group; empty if unknown."""
    is_block: bool
    """Whether it is a Capacity Block, which ends and cannot be extended by a new purchase."""

    @property
    def words(self) -> str:
        """The capacity as text."""
        if self.is_block:
            return f"Capacity Block {self.target}".rstrip()
        kind = "reservations of the group" if self.target.startswith("arn:") else "reservation"
        return f"{kind} {self.target}".rstrip()


class ReservedGroups:
    """The groups of an update, with their current and future capacity."""

    def __init__(self, steps: Iterable[PlannedStep]) -> None:
        self._templates = {step.name: step for step in steps if step.type == LAUNCH_TEMPLATE}

    def capacity_of(self, step: PlannedStep, side: Side) -> Reserved | None:
        """Return the reserved capacity of a node group; None for On-Demand and for other types."""
        suffix = _SUFFIXES.get(step.type)
        if suffix is None:
            return None
        template = self._templates.get(f"{step.name.removesuffix(suffix)}{_TEMPLATE_SUFFIX}")
        found = _target(template, side) if template else None
        if found is None and _inputs(step, side).get("capacityType") == "CAPACITY_BLOCK":
            return Reserved("", is_block=True)
        return found


def _target(template: PlannedStep, side: Side) -> Reserved | None:
    inputs = _inputs(template, side)
    target = mapping_of(mapping_of(inputs.get("capacityReservationSpecification")).get(_TARGET))
    if not target:
        return None
    named = target.get("capacityReservationId") or target.get("capacityReservationResourceGroupArn")
    market = mapping_of(inputs.get("instanceMarketOptions")).get("marketType")
    # An unknown value in the preview is a string that is not an id.
    known = named if isinstance(named, str) and named.startswith(("cr-", "arn:")) else ""
    return Reserved(known, is_block=market == "capacity-block")


def nodes_that_come(step: PlannedStep) -> int:
    """Return how many nodes a new group starts by itself; 0 if it scales with jobs."""
    if step.type == COMPUTE_ENVIRONMENT:
        return _batch_nodes(step.new, "minVcpus")
    return desired_nodes(step, "new")


def nodes_that_go(step: PlannedStep) -> int:
    """Return how many nodes an old group may have; for AWS Batch, its maximum."""
    if step.type == COMPUTE_ENVIRONMENT:
        return _batch_nodes(step.old, "maxVcpus")
    return desired_nodes(step, "old")


def _batch_nodes(inputs: Mapping[str, Any], limit: str) -> int:
    resources = mapping_of(inputs.get("computeResources"))
    vcpus, types = resources.get(limit), resources.get("instanceTypes") or ()
    if not isinstance(vcpus, int | float):
        return 0
    found = INSTANCE_TYPES.get(types[0]) if types else None
    # An unknown instance type counts as one node, which is enough to distinguish it from none.
    return -(-int(vcpus) // found.vcpus) if found else int(vcpus > 0)


def desired_nodes(step: PlannedStep, side: Side) -> int:
    """Return the initial desired size of an EKS group; 0 for groups that scale by themselves."""
    inputs = _inputs(step, side)
    scaling = mapping_of(inputs.get("scalingConfig"))
    size = scaling.get("desiredSize", inputs.get("desiredCapacity"))
    return int(size) if isinstance(size, int | float) else 0


def _inputs(step: PlannedStep, side: Side) -> Mapping[str, Any]:
    return step.old if side == "old" else step.new

"""Nodes that target a reservation by its id are of one instance type.

Why:
    A reservation holds instances of one type. Nodes that may be of several types and target it by
    its id launch with one of them only; ParallelCluster refuses the id for a list of types, and
    its `Instances` is launched through CreateFleet, which does not take an id at all.
Fix:
    Leave one instance type, or put reservations of all types into a resource group and target
    that.
Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-odcr-v3.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.parallelcluster import compute_resources
from policies.resources.pools import Pool, pools
from policies.resources.props import is_set
from policies.resources.reservations import TARGET
from policies.resources.stack import Stack
from policies.resources.types import CLOUDFORMATION_STACK
from policies.rule import Config, on_stack


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for pool in pools(stack):
        types = {str(each) for each in pool.instance_types()}
        if len(types) > 1 and _targets_one(stack, pool):
            yield (
                pool.resource.urn,
                (
                    f"it may launch {', '.join(sorted(types))}, but its launch template targets "
                    "one reservation, which holds one type; leave one type, or target a resource "
                    "group of reservations"
                ),
            )
    for clusters in stack.of_type(CLOUDFORMATION_STACK):
        for nodes in compute_resources(stack.facts_of(clusters.urn).get("templateBody")):
            if nodes.flexible and nodes.reservation_id is not None:
                yield (
                    clusters.urn,
                    (
                        f"in its compute resource {nodes.name}, it lists Instances and targets "
                        "one reservation, which ParallelCluster refuses together; set "
                        "InstanceType in place of Instances, or target a resource group"
                    ),
                )


def _targets_one(stack: Stack, pool: Pool) -> bool:
    """Whether the launch template targets a reservation by id, and the pool says nothing else."""
    return pool.reservation is None and any(
        is_set(stack.facts_of(template.urn).get(*TARGET, "capacityReservationId"))
        for template, _ in pool.templates()
    )


POLICY = StackValidationPolicy(
    name="reservation-single-type",
    display_name="Nodes of one reservation are of one type",
    description="Nodes that target a reservation by its id have one instance type.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["capacity", "C4"],
    remediation_steps="Leave one instance type, or target a resource group of reservations.",
    url="https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-odcr-v3.html",
    validate=on_stack(_check),
)

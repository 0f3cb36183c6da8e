"""Nodes with EFA launch in one zone.

Why:
    EFA traffic does not cross Availability Zones. A group that spreads its nodes over subnets of
    several zones starts without an error, and the job on it hangs or runs over TCP.
Fix:
    Give the node group, Auto Scaling group or compute environment one subnet, that of the zone of
    the reservation.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html
    https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity, StackValidationPolicy

from policies.launch import Launch
from policies.props import UNKNOWN
from policies.resource_types import (
    AUTO_SCALING_GROUP,
    BATCH_COMPUTE_ENVIRONMENT,
    EKS_NODE_GROUP,
    LAUNCH_TEMPLATE,
    SUBNET,
)
from policies.rule import Config, on_stack
from policies.stack import Stack
from policies.templates import templates_of

_SUBNETS = {
    AUTO_SCALING_GROUP: ("vpcZoneIdentifiers",),
    BATCH_COMPUTE_ENVIRONMENT: ("computeResources", "subnets"),
    EKS_NODE_GROUP: ("subnetIds",),
}
_ZONES = ("availabilityZones",)


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for group in stack.of_type(*_SUBNETS):
        template = next((t for t in templates_of(stack, group) if _has_efa(stack, t)), None)
        if template is None:
            continue
        subnets = _SUBNETS[group.resource_type]
        facts = stack.facts_of(group.urn)
        for where, path in (("subnets", subnets), ("zones", _ZONES)):
            count = facts.count(*path)
            if count > 1 and not (where == "subnets" and _one_zone(stack, group, subnets)):
                yield (
                    group.urn,
                    (
                        f"its launch template {template.name} has EFA interfaces, but it spreads "
                        f"nodes over {count} {where}, and EFA does not cross zones; leave only one "
                        f"in {path[-1]}, that of the zone of the capacity"
                    ),
                )


def _has_efa(stack: Stack, template: PolicyResource) -> bool:
    return bool(Launch(LAUNCH_TEMPLATE, stack.facts_of(template.urn)).efa_interfaces())


def _one_zone(stack: Stack, group: PolicyResource, path: tuple[str, ...]) -> bool:
    """Whether every subnet is one of the stack, and all of them lie in the same zone."""
    zones: set[object] = set()
    for index in range(stack.facts_of(group.urn).count(*path)):
        reference = stack.refers(group, *path, index, to=SUBNET)
        if reference is None or reference.elsewhere:
            return False
        zones.update(
            stack.facts_of(subnet.urn).get("availabilityZone") for subnet in reference.resources
        )
    return len(zones) == 1 and not zones & {None, UNKNOWN}


POLICY = StackValidationPolicy(
    name="efa-single-zone",
    display_name="Nodes with EFA launch in one zone",
    description="A group of nodes with EFA interfaces launches in one Availability Zone.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["efa", "network"],
    remediation_steps="Give the node group or Auto Scaling group a single subnet.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html",
    validate=on_stack(_check),
)

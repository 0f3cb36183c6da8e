"""Which launch templates the nodes of a pool may be launched from."""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import PolicyResource

from policies.resource_types import LAUNCH_TEMPLATE
from policies.stack import Stack

FLEET_CONFIGS = "launchTemplateConfigs"
"""In an EC2 Fleet and a Spot Fleet: templates, each with the types and subnets that override it."""
MIXED = ("mixedInstancesPolicy", "launchTemplate")
"""In an Auto Scaling group: a template, and the types that override it."""

_SPECIFICATION = (*MIXED, "launchTemplateSpecification")
_BATCH = ("computeResources", "launchTemplate")
_REFERENCES = (
    ("launchTemplate", "id"),
    ("launchTemplate", "name"),
    (*_SPECIFICATION, "launchTemplateId"),
    (*_SPECIFICATION, "launchTemplateName"),
    (*_BATCH, "launchTemplateId"),
    (*_BATCH, "launchTemplateName"),
)
_FLEET_KEYS = ("launchTemplateId", "launchTemplateName", "id", "name")


def templates_of(stack: Stack, group: PolicyResource) -> tuple[PolicyResource, ...]:
    """Return the launch templates of the stack that a group of nodes may use.

    The group is an Auto Scaling group, a node group of EKS, a compute environment of Batch, a
    fleet, or a single instance. One template as a rule; several in a fleet, or while the id is
    not known; none where the template was made elsewhere.
    """
    for path in _REFERENCES:
        reference = stack.refers(group, *path, to=LAUNCH_TEMPLATE)
        if reference is not None:
            return reference.resources
    return tuple({each.urn: each for each in _of_fleet(stack, group)}.values())


def _of_fleet(stack: Stack, group: PolicyResource) -> Iterator[PolicyResource]:
    for index in range(stack.facts_of(group.urn).count(FLEET_CONFIGS)):
        for key in _FLEET_KEYS:
            path = (FLEET_CONFIGS, index, "launchTemplateSpecification", key)
            reference = stack.refers(group, *path, to=LAUNCH_TEMPLATE)
            yield from reference.resources if reference else ()

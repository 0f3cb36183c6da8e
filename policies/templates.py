"""Which launch template a group of instances uses."""

from __future__ import annotations

from pulumi_policy import PolicyResource

from policies.resource_types import LAUNCH_TEMPLATE
from policies.stack import Stack

_SPECIFICATION = ("mixedInstancesPolicy", "launchTemplate", "launchTemplateSpecification")
_BATCH = ("computeResources", "launchTemplate")
_REFERENCES = (
    ("launchTemplate", "id"),
    ("launchTemplate", "name"),
    (*_SPECIFICATION, "launchTemplateId"),
    (*_SPECIFICATION, "launchTemplateName"),
    (*_BATCH, "launchTemplateId"),
    (*_BATCH, "launchTemplateName"),
)


def templates_of(stack: Stack, group: PolicyResource) -> tuple[PolicyResource, ...]:
    """Return the launch templates of the stack that a group of nodes may use.

    The group is an Auto Scaling group, a node group of EKS or a compute environment of Batch. One
    as a rule; none where the template was made elsewhere.
    """
    for path in _REFERENCES:
        reference = stack.refers(group, *path, to=LAUNCH_TEMPLATE)
        if reference is not None:
            return reference.resources
    return ()

"""The minimum, desired and maximum sizes of a group of nodes are in order.

Why:
    Auto Scaling and EKS refuse a desired size outside the bounds, minutes into the update and
    after everything that the group needs was made. A managed node group also needs a maximum of
    at least 1, so a group that shall hold nothing yet has the sizes 0, 0, 1.
Fix:
    Keep minimum ≤ desired ≤ maximum (in a stack file: `minimum`, `desired` and `maximum`).
Source:
    https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_CreateAutoScalingGroup.html
    https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupScalingConfig.html
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.props import UNKNOWN, Facts, number_of
from policies.resources.types import AUTO_SCALING_GROUP, AUTO_SCALING_SCHEDULE, EKS_NODE_GROUP
from policies.rule import Config, on_types

UNCHANGED = -1
"""What the provider takes for a size that a scheduled action leaves alone."""
_SIZES = {
    AUTO_SCALING_GROUP: (("minSize",), ("desiredCapacity",), ("maxSize",)),
    AUTO_SCALING_SCHEDULE: (("minSize",), ("desiredCapacity",), ("maxSize",)),
    EKS_NODE_GROUP: (
        ("scalingConfig", "minSize"),
        ("scalingConfig", "desiredSize"),
        ("scalingConfig", "maxSize"),
    ),
}


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    values = {path[-1]: number_of(facts.needed(*path)) for path in _SIZES[resource_type]}
    known = {
        name: value for name, value in values.items() if value not in (None, UNKNOWN, UNCHANGED)
    }
    for lower, upper in pairwise(known):
        if known[lower] > known[upper]:
            yield (
                f"its {lower} is {known[lower]:g} and its {upper} {known[upper]:g}, which AWS "
                "refuses; keep minimum, desired and maximum in order"
            )
    if resource_type == EKS_NODE_GROUP and known.get("maxSize", 1) < 1:
        yield "its maxSize is 0, which EKS refuses; set it to the most nodes that shall ever run"


POLICY = ResourceValidationPolicy(
    name="group-sizes-in-order",
    display_name="Sizes of node groups are in order",
    description="Minimum, desired and maximum of a group of nodes are in order.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.MEDIUM,
    tags=["instance", "E9"],
    remediation_steps="Keep minimum, desired and maximum in order.",
    url="https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_CreateAutoScalingGroup.html",
    validate=on_types(*_SIZES, check=_check),
)

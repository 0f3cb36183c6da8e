"""The minimum, desired and maximum sizes of a group of nodes are in order.

Why:
    Auto Scaling and EKS reject a desired size outside the bounds, minutes into the update and after
    they create everything that the group depends on. A managed node group also needs a maximum of
    at least 1, so an empty group has the sizes 0, 0 and 1.
Fix:
    Keep minimum ≤ desired ≤ maximum (in a stack file: `minimum`, `desired` and `maximum`).
Source:
    https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_CreateAutoScalingGroup.html
    https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupScalingConfig.html
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.props import UNKNOWN, Facts, number_of
from trainyard.policies.resources.types import (
    AUTO_SCALING_GROUP,
    AUTO_SCALING_SCHEDULE,
    EKS_NODE_GROUP,
)
from trainyard.policies.rule import Config, resource_rule

UNCHANGED = -1
"""Value of the provider for a size that a scheduled action does not change."""
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
                "rejects; keep minimum, desired and maximum in order"
            )
    if resource_type == EKS_NODE_GROUP and known.get("maxSize", 1) < 1:
        yield "its maxSize is 0, which EKS rejects; set it to the largest size of the group"


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.MEDIUM,
    tags=["E9"],
    types=_SIZES,
    check=_check,
)

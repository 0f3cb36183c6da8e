"""A launch names its placement group by name or by id, and only where the group is enabled.

Why:
    EC2 accepts a placement group by name or by id, not both. ParallelCluster rejects both as well,
    and a name or id with a disabled group, and the deployment of the cluster rolls back.
Fix:
    Keep the name or the id. In ParallelCluster, remove it if `Enabled` is false.
Source:
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplatePlacementRequest.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.launches import LAUNCHES, PLACEMENT_GROUP_PATHS
from trainyard.policies.resources.parallelcluster import compute_resources
from trainyard.policies.resources.props import Facts, is_set, is_true
from trainyard.policies.resources.types import CLOUDFORMATION_STACK
from trainyard.policies.rule import Config, resource_rule


def _check(type_: str, facts: Facts, _config: Config) -> Iterator[str]:
    if type_ == CLOUDFORMATION_STACK:
        yield from _parallelcluster(facts)
    elif all(is_set(facts.get(*path)) for path in PLACEMENT_GROUP_PATHS[type_]):
        yield "it names a placement group by name and by id, which EC2 rejects; remove one of them"


def _parallelcluster(facts: Facts) -> Iterator[str]:
    for nodes in compute_resources(facts.get("templateBody")):
        named = [key for key in ("Name", "Id") if nodes.placement.get(key)]
        enabled = nodes.placement.get("Enabled")
        if len(named) > 1:
            yield f"{nodes.where}PlacementGroup has a Name and an Id, which is invalid; remove one"
        elif named and enabled is not None and not is_true(enabled):
            yield (
                f"{nodes.where}PlacementGroup has a {named[0]} and is "
                f"not enabled; remove {named[0]}, or Enabled"
            )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.MEDIUM,
    tags=["B1", "B2"],
    types=(*LAUNCHES, CLOUDFORMATION_STACK),
    check=_check,
)

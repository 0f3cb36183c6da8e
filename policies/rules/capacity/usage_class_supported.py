"""EC2 offers the instance type in the market of the launch.

Why:
    Capacity Blocks exist for some instance types only, and EC2 does not sell every type as Spot.
    EC2 rejects the launch, and the Auto Scaling group reports the error minutes later.
Fix:
    Change the market type (the capacity type of a node group) or the instance type.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceTypeInfo.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-using.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pulumi_policy import EnforcementLevel, Severity

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.policies.resources.launches import LAUNCHES, Launch
from trainyard.policies.resources.parallelcluster import compute_resources
from trainyard.policies.resources.props import Facts
from trainyard.policies.resources.types import CLOUDFORMATION_STACK, EKS_NODE_GROUP
from trainyard.policies.rule import Config, resource_rule

_USAGE_CLASSES = {
    "spot": "spot",
    "SPOT": "spot",
    "capacity-block": "capacity-block",
    "CAPACITY_BLOCK": "capacity-block",
}


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    if resource_type == CLOUDFORMATION_STACK:
        for nodes in compute_resources(facts.get("templateBody")):
            for fault in _faults(nodes.capacity_type, nodes.instance_types):
                yield nodes.where + fault
    elif resource_type == EKS_NODE_GROUP:
        count = facts.count("instanceTypes")
        types = [facts.needed("instanceTypes", index) for index in range(count)]
        yield from _faults(facts.get("capacityType"), types)
    else:
        launch = Launch(resource_type, facts)
        yield from _faults(launch.market_type, [launch.instance_type])


def _faults(market: object, instance_types: Sequence[object]) -> Iterator[str]:
    wanted = _USAGE_CLASSES.get(market) if isinstance(market, str) else None
    for name in instance_types:
        known = INSTANCE_TYPES.get(name) if isinstance(name, str) else None
        # Types that are not in the catalog pass.
        if wanted is not None and known is not None and wanted not in known.usage_classes:
            yield (
                f"EC2 does not sell {known.name} as {wanted}, only as "
                f"{' or '.join(known.usage_classes)}; change the market or the instance type"
            )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["C15"],
    types=(*LAUNCHES, EKS_NODE_GROUP, CLOUDFORMATION_STACK),
    check=_check,
)

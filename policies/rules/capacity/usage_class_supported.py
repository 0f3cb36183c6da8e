"""EC2 sells the instance type in the way in which it is bought.

Why:
    Capacity Blocks exist for a few instance types, and some types are not sold as Spot. A launch
    in a way that the type is not sold in is refused, and the error reaches the user through the
    Auto Scaling group minutes later.
Fix:
    Change the market type (of a node group the capacity type) or the instance type.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceTypeInfo.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-using.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from components.catalog.instance_types import INSTANCE_TYPES
from policies.resources.launches import LAUNCHES, Launch
from policies.resources.parallelcluster import compute_resources
from policies.resources.props import Facts
from policies.resources.types import CLOUDFORMATION_STACK, EKS_NODE_GROUP
from policies.rule import Config, on_types

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
                yield f"in its compute resource {nodes.name}, {fault}"
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
        # Of a type that the catalog does not know, nothing is told.
        if wanted is not None and known is not None and wanted not in known.usage_classes:
            yield (
                f"EC2 does not sell {known.name} as {wanted}, only as "
                f"{' or '.join(known.usage_classes)}; change the market or the instance type"
            )


POLICY = ResourceValidationPolicy(
    name="usage-class-supported",
    display_name="Instance types are bought as EC2 sells them",
    description="The market of a launch is one in which EC2 sells the instance type.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["capacity", "C15"],
    remediation_steps="Change the market type or the instance type.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceTypeInfo.html",
    validate=on_types(*LAUNCHES, EKS_NODE_GROUP, CLOUDFORMATION_STACK, check=_check),
)

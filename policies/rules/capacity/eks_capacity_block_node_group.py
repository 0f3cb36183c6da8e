"""An EKS node group and its launch template agree on the Capacity Block.

Why:
    EKS uses a Capacity Block only if the node group has the capacity type CAPACITY_BLOCK and its
    launch template has the market type `capacity-block` and the instance type. EKS rejects a
    mismatch when it creates the node group, after the control plane is ready. Launches in subnets
    outside the zone of the block fail.
Fix:
    Set `capacity_type` of the node group to CAPACITY_BLOCK and the market type of its launch
    template to `capacity-block`. Remove `instance_types`, and list only subnets in the zone of the
    block.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity

from trainyard.policies.resources.launches import CAPACITY_BLOCK, templates_of
from trainyard.policies.resources.props import UNKNOWN, is_set
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.subnets import zones_of_group
from trainyard.policies.resources.types import EKS_NODE_GROUP
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for group in stack.of_type(EKS_NODE_GROUP):
        for message in _faults(stack, group):
            yield group.urn, message


def _faults(stack: Stack, group: PolicyResource) -> Iterator[str]:
    facts = stack.facts_of(group.urn)
    capacity_type = facts.needed("capacityType")
    if capacity_type is UNKNOWN:
        return
    from_block = capacity_type == "CAPACITY_BLOCK"
    if from_block and facts.get("launchTemplate") is None:
        yield (
            "its capacity type is CAPACITY_BLOCK but it has no launch template to name the block; "
            "give it one with market type, reservation and instance type"
        )
    if from_block and is_set(facts.get("instanceTypes")) and facts.count("instanceTypes"):
        yield (
            "its capacity type is CAPACITY_BLOCK and it lists instance types, which EKS rejects; "
            "remove instance_types and set the type in the launch template"
        )
    zones = zones_of_group(stack, group) if from_block else None
    if zones is not None and len(zones) > 1:
        yield (
            f"its capacity type is CAPACITY_BLOCK but its subnets are in {', '.join(sorted(zones))}"
            ", and a block is in one zone; keep only the subnets of that zone in subnet_ids"
        )
    for template in templates_of(stack, group):
        market = stack.facts_of(template.urn).get("instanceMarketOptions", "marketType")
        if from_block and market not in (CAPACITY_BLOCK, UNKNOWN):
            yield (
                f"its capacity type is CAPACITY_BLOCK but its launch template {template.name} has "
                f"another market type; set market_type of the template to {CAPACITY_BLOCK}"
            )
        if market == CAPACITY_BLOCK and not from_block:
            yield (
                f"its launch template {template.name} is for a Capacity Block but its capacity "
                f"type is {capacity_type or 'ON_DEMAND'}; set capacity_type to CAPACITY_BLOCK"
            )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["eks", "D3"],
    check=_check,
)

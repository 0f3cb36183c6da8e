"""A launch into a Capacity Block names the market type, the reservation and the instance type.

Why:
    EC2 launches into a Capacity Block only if the request has all three; EKS requires them in the
    launch template. EC2 accepts an incomplete template, the launch fails, and the Auto Scaling
    group reports the error minutes later. An Auto Scaling group can set the reservation and the
    instance type itself.
Fix:
    Set `instance_market_options.market_type`, the capacity reservation target and `instance_type`
    in the same launch template.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-launch.html
    https://docs.aws.amazon.com/autoscaling/ec2/userguide/target-capacity-reservations.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, PolicyResource, Severity

from trainyard.policies.resources.launches import CAPACITY_BLOCK, LAUNCHES, Launch, templates_of
from trainyard.policies.resources.pools import POOLS, Pool
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import EKS_NODE_GROUP, INSTANCE
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    users = _users(stack)
    for resource in stack.of_type(*LAUNCHES):
        facts = stack.facts_of(resource.urn)
        launch = Launch(resource.resource_type, facts)
        if facts.needed("instanceMarketOptions", "marketType") == CAPACITY_BLOCK:
            for fault in _faults(stack, launch, users.get(resource.urn, [])):
                yield resource.urn, fault


def _users(stack: Stack) -> dict[str, list[PolicyResource]]:
    """Return the groups and instances that launch from each template of the stack, by its URN."""
    found: dict[str, list[PolicyResource]] = {}
    for user in stack.of_type(*POOLS, INSTANCE):
        for template in templates_of(stack, user):
            found.setdefault(template.urn, []).append(user)
    return found


def _faults(stack: Stack, launch: Launch, users: list[PolicyResource]) -> Iterator[str]:
    if launch.takes_the_rest_from_a_template:
        return
    if launch.reservation is None and not any(_targets(stack, user) for user in users):
        yield (
            "its market type is capacity-block but it targets no reservation, so launches fail; "
            "set the capacity reservation target to the cr- id of the Capacity Block"
        )
    if launch.instance_type is None and not any(_has_type(stack, user) for user in users):
        yield (
            "its market type is capacity-block but it names no instance type, and a block holds "
            "exactly one; set instance_type to that of the Capacity Block"
        )


def _targets(stack: Stack, user: PolicyResource) -> bool:
    if user.resource_type == INSTANCE:
        return Launch(INSTANCE, stack.facts_of(user.urn)).reservation is not None
    return Pool(stack, user).reservation is not None


def _has_type(stack: Stack, user: PolicyResource) -> bool:
    if user.resource_type == INSTANCE:
        return Launch(INSTANCE, stack.facts_of(user.urn)).instance_type is not None
    # EKS requires the type in the launch template of a managed node group.
    return user.resource_type != EKS_NODE_GROUP and bool(Pool(stack, user).instance_types())


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["D1", "D2", "D4"],
    check=_check,
)

"""A resource group that launches target is a pool of capacity reservations.

Why:
    EC2 launches only into groups with the configuration `AWS::EC2::CapacityReservationPool`. It
    rejects every launch that targets another group, such as one made from a tag query.
Fix:
    Give the group the configurations `AWS::EC2::CapacityReservationPool` and
    `AWS::ResourceGroups::Generic` with `allowed-resource-types`, and no query.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html
    https://docs.aws.amazon.com/ARG/latest/userguide/about-slg-types.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.props import UNKNOWN, Facts
from trainyard.policies.resources.reservations import targeted_groups
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import AUTO_SCALING_GROUP, INSTANCE, LAUNCH_TEMPLATE
from trainyard.policies.rule import Config, stack_rule

POOL = "AWS::EC2::CapacityReservationPool"


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    targeted = {
        group.urn
        for launch in stack.of_type(LAUNCH_TEMPLATE, INSTANCE, AUTO_SCALING_GROUP)
        for group in targeted_groups(stack, launch)
    }
    for urn in sorted(targeted):
        if not _may_be_a_pool(stack.facts_of(urn)):
            yield (
                urn,
                (
                    f"launches target the group, but it has no configuration {POOL}, so EC2 "
                    "rejects them; add the configurations of a pool of capacity reservations"
                ),
            )


def _may_be_a_pool(facts: Facts) -> bool:
    if facts.needed("configurations") is UNKNOWN:
        return True
    count = facts.count("configurations")
    types = {facts.needed("configurations", index, "type") for index in range(count)}
    return bool(types & {POOL, UNKNOWN})


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["C6"],
    check=_check,
)

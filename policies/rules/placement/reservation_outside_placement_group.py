"""A launch into a placement group does not use a reservation that was created outside one.

Why:
    A reservation outside a placement group holds capacity anywhere in its zone. A launch into a
    cluster placement group needs capacity in one place, and can fail with
    InsufficientInstanceCapacity although the reservation has room. This applies to targeted
    reservations and to open reservations of the same instance type.
Fix:
    Create the reservation in the placement group (`placement_group_arn`), or remove the placement
    group from the launch.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-groups.html
    https://github.com/aws/aws-parallelcluster, PlacementGroupCapacityReservationValidator
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.placements import reserved_placements
from trainyard.policies.resources.stack import Stack
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for each in reserved_placements(stack, open_ones=True):
        outside = [r.name for r in each.reservations if not each.is_placed(r)]
        if outside:
            yield (
                each.urn,
                (
                    f"it launches into a placement group, and the reservation {outside[0]} was "
                    "made outside of one, so launches may fail while it has room; set its "
                    "placement_group_arn, or remove the placement group"
                ),
            )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.HIGH,
    tags=["capacity", "B9"],
    check=_check,
)

"""A launch that targets a reservation in a placement group names no other placement group.

Why:
    A reservation in a cluster placement group serves only launches into that group. A launch that
    targets the reservation and names another group finds no capacity while you pay for the
    reservation.
Fix:
    Name the placement group of the reservation in `placement` of the launch, or remove `placement`.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-cpg-odcr-crg.html
    https://github.com/aws/aws-parallelcluster, PlacementGroupCapacityReservationValidator
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.placements import reserved_placements
from trainyard.policies.resources.stack import Stack
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for each in reserved_placements(stack):
        names = [each.name_of(reservation) for reservation in each.reservations]
        # One matching member of a group of reservations is enough for a launch.
        if None in names or each.group in names or each.group is None:
            continue
        yield (
            each.urn,
            (
                f"it launches into {each.group}, and the reservation that it targets, "
                f"{each.reservations[0].name}, was made in {names[0]}, so nothing launches while "
                f"the reservation is paid for; use {names[0]}, or remove the placement group"
            ),
        )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.CRITICAL,
    tags=["capacity", "B8"],
    check=_check,
)

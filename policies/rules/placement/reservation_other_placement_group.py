"""A launch into a reservation in a placement group launches into that group.

Why:
    A reservation that was made in a cluster placement group serves launches in that group. A
    launch that targets it and names another group, whether the program makes both or not, finds
    no capacity while the reservation is paid for.
Fix:
    Name the group of the reservation in `placement` of the launch, or leave `placement` out.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-cpg-odcr-crg.html
    https://github.com/aws/aws-parallelcluster, PlacementGroupCapacityReservationValidator
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.placements import reserved_placements
from policies.resources.stack import Stack
from policies.rule import Config, on_stack


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for each in reserved_placements(stack):
        names = [each.name_of(reservation) for reservation in each.reservations]
        # A group of reservations serves a launch when one of its members is in the same place.
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


POLICY = StackValidationPolicy(
    name="reservation-other-placement-group",
    display_name="A launch names the placement group of its reservation",
    description=(
        "A launch that targets a reservation of the program, made in a placement group, names no "
        "other group."
    ),
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.CRITICAL,
    tags=["placement", "capacity", "B8"],
    remediation_steps="Name the placement group of the reservation in the launch template.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/cr-cpg.html",
    validate=on_stack(_check),
)

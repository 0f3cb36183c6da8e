"""The capacity reservation preference is a value that AWS accepts for the resource.

Why:
    Launch templates and Auto Scaling groups accept different values: only launch templates accept
    `open`, and only Auto Scaling groups accept `capacity-reservations-first`. AWS rejects another
    value when it creates the resource, after everything that the resource depends on.
Fix:
    Set `capacity_reservation_preference` to `capacity-reservations-only`, `open` or `none`; in an
    Auto Scaling group to `capacity-reservations-only`, `capacity-reservations-first`, `none` or
    `default`.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservationSpecification.html
    https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_CapacityReservationSpecification.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.launches import LAUNCHES
from trainyard.policies.resources.props import UNKNOWN, Facts
from trainyard.policies.resources.reservations import ONLY, PREFERENCE
from trainyard.policies.resources.types import AUTO_SCALING_GROUP
from trainyard.policies.rule import Config, resource_rule

OF_LAUNCHES = (ONLY, "open", "none")
OF_GROUPS = (ONLY, "capacity-reservations-first", "none", "default")


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    preference = facts.needed(*PREFERENCE)
    known = OF_GROUPS if resource_type == AUTO_SCALING_GROUP else OF_LAUNCHES
    if preference not in (None, "", UNKNOWN, *known):
        yield (
            f"its preference for reserved capacity is {preference!r}, which AWS does not accept "
            f"here; set capacity_reservation_preference to {', '.join(known[:-1])} or {known[-1]}"
        )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.MEDIUM,
    tags=["C9"],
    types=(*LAUNCHES, AUTO_SCALING_GROUP),
    check=_check,
)

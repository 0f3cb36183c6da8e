"""A launch targets one reservation or one group of them, never both.

Why:
    EC2 takes the id of a reservation or the ARN of a resource group. A launch template with both
    is made without an error, and every launch from it is refused.
Fix:
    Remove the id or the ARN from the capacity reservation target.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservationTarget.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.launches import LAUNCHES
from policies.resources.parallelcluster import compute_resources
from policies.resources.props import Facts, is_set
from policies.resources.reservations import TARGET
from policies.resources.types import CLOUDFORMATION_STACK
from policies.rule import Config, on_types

_BOTH = (
    "it targets a reservation by id and a resource group too, and EC2 takes one of the two; "
    "remove the id or the ARN of the group"
)


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    if resource_type == CLOUDFORMATION_STACK:
        for nodes in compute_resources(facts.get("templateBody")):
            if nodes.reservation_id is not None and nodes.reservation_group is not None:
                yield f"in its compute resource {nodes.name}, {_BOTH}"
        return
    keys = ("capacityReservationId", "capacityReservationResourceGroupArn")
    if all(is_set(facts.get(*TARGET, key)) for key in keys):
        yield _BOTH


POLICY = ResourceValidationPolicy(
    name="reservation-target-exclusive",
    display_name="A launch targets a reservation or a group",
    description="A launch names the id of a reservation or the ARN of a group, not both.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["capacity", "C8"],
    remediation_steps="Remove the id of the reservation or the ARN of the group.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservationTarget.html",
    validate=on_types(*LAUNCHES, CLOUDFORMATION_STACK, check=_check),
)

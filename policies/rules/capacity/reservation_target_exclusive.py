"""A launch targets a reservation by id or a resource group by ARN, not both.

Why:
    EC2 accepts the id of a reservation or the ARN of a resource group. It creates a launch template
    with both, and rejects every launch from it.
Fix:
    Remove the id or the ARN from the capacity reservation target.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservationTarget.html
    https://docs.aws.amazon.com/parallelcluster/latest/ug/Scheduling-v3.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.launches import LAUNCHES
from trainyard.policies.resources.parallelcluster import compute_resources
from trainyard.policies.resources.props import Facts, is_set
from trainyard.policies.resources.reservations import TARGET
from trainyard.policies.resources.types import CLOUDFORMATION_STACK
from trainyard.policies.rule import Config, resource_rule

_BOTH = (
    "it targets a reservation by id and a resource group, and EC2 accepts one of the two; "
    "remove the id or the ARN of the group"
)


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    if resource_type == CLOUDFORMATION_STACK:
        for nodes in compute_resources(facts.get("templateBody")):
            if nodes.reservation_id is not None and nodes.reservation_group is not None:
                yield nodes.where + _BOTH
        return
    keys = ("capacityReservationId", "capacityReservationResourceGroupArn")
    if all(is_set(facts.get(*TARGET, key)) for key in keys):
        yield _BOTH


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["C8"],
    types=(*LAUNCHES, CLOUDFORMATION_STACK),
    check=_check,
)

"""The market type of a launch is valid, and is not spot if the launch targets a reservation.

Why:
    Spot Instances do not run in reserved capacity, so EC2 rejects a launch with both. It also
    rejects an unknown market type, such as the spelling `CAPACITY_BLOCK` of ParallelCluster and
    EKS, but only at launch.
Fix:
    Set the market type to `capacity-block` for a Capacity Block, and remove it for an On-Demand
    Capacity Reservation.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_InstanceMarketOptionsRequest.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-reservations.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.launches import LAUNCHES, Launch
from trainyard.policies.resources.parallelcluster import compute_resources
from trainyard.policies.resources.props import UNKNOWN, Facts
from trainyard.policies.resources.types import CLOUDFORMATION_STACK
from trainyard.policies.rule import Config, resource_rule

MARKETS = ("spot", "capacity-block", "interruptible-capacity-reservation", "on-demand")
_SPOT = (
    "it targets reserved capacity, in which Spot instances do not run; remove the {} or the "
    "capacity reservation target"
)


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    if resource_type == CLOUDFORMATION_STACK:
        for nodes in compute_resources(facts.get("templateBody")):
            if nodes.capacity_type == "SPOT" and nodes.reservation is not None:
                yield nodes.where + _SPOT.format("CapacityType SPOT")
        return
    launch = Launch(resource_type, facts)
    market = facts.needed("instanceMarketOptions", "marketType")
    if market == "spot" and launch.reservation is not None:
        yield _SPOT.format("market type spot")
    if market not in (None, "", UNKNOWN, *MARKETS):
        yield (
            f"its market type is {market!r}, which EC2 does not accept; set market_type to "
            f"{', '.join(MARKETS[:-1])}, or leave it out"
        )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["D4"],
    types=(*LAUNCHES, CLOUDFORMATION_STACK),
    check=_check,
)

"""A resource that buys a Capacity Block has the resource option protect.

Why:
    Creating the resource buys the block, without a refund. A destroy removes the block from the
    Pulumi state only, and a changed offering replaces the resource, which buys a second block. With
    `protect` the engine rejects both.
Fix:
    Set the resource option `protect`. Remove it when the block has ended.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-release.html
    https://www.pulumi.com/registry/packages/aws/api-docs/ec2/capacityblockreservation/
"""

from __future__ import annotations

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.types import CAPACITY_BLOCK_RESERVATION
from trainyard.policies.rule import protection_rule

POLICY = protection_rule(
    __name__,
    __doc__,
    # Advisory: to remove a block that has ended, users first remove the protection.
    level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["cost", "D15"],
    types=(CAPACITY_BLOCK_RESERVATION,),
    fault=(
        "the purchase of the Capacity Block is not protected: a destroy gives no refund, and a "
        "changed offering buys a second block"
    ),
)

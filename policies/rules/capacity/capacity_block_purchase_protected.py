"""The purchase of a Capacity Block is protected.

Why:
    The resource buys the block when it is made, and nothing gives the money back: a destroy drops
    it from the state only, and a change of its offering replaces it, which buys a second block.
    `protect` makes the engine refuse both.
Fix:
    Set the resource option `protect`; take it away when the block is over.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-release.html
    https://www.pulumi.com/registry/packages/aws/api-docs/ec2/capacityblockreservation/
"""

from __future__ import annotations

from pulumi_policy import (
    EnforcementLevel,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
)

from policies.resources.types import CAPACITY_BLOCK_RESERVATION


def _validate(args: ResourceValidationArgs, report_violation: ReportViolation) -> None:
    if args.resource_type == CAPACITY_BLOCK_RESERVATION and not args.opts.protect:
        report_violation(
            f"{args.name}: the purchase of the Capacity Block is not protected: a destroy gives no "
            "money back, and a changed offering buys a second block; set the resource option "
            "protect",
            None,
        )


POLICY = ResourceValidationPolicy(
    name="capacity-block-purchase-protected",
    display_name="Purchases of Capacity Blocks are protected",
    description="A resource that buys a Capacity Block has the resource option protect.",
    # Whoever wants to forget a block that is over has to take the protection away first.
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.MEDIUM,
    tags=["capacity", "cost", "D15"],
    remediation_steps="Set the resource option protect.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-release.html",
    validate=_validate,
)

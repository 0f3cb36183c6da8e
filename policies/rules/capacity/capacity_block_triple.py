"""A launch into a Capacity Block says market, reservation and instance type, all three.

Why:
    EC2 launches into a block only if the request has the market type `capacity-block`, targets
    the block's reservation, and names the instance type; EKS demands all three in the launch
    template. One that is missing is not refused when the template is made, but at the launch,
    and the error reaches the user through the Auto Scaling group minutes later.
Fix:
    Set `instance_market_options.market_type`, the capacity reservation target and
    `instance_type` in the same launch template.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-launch.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.launch import CAPACITY_BLOCK, LAUNCHES, Launch
from policies.props import Facts
from policies.rule import Config, on_types


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    launch = Launch(resource_type, facts)
    if facts.needed("instanceMarketOptions", "marketType") != CAPACITY_BLOCK:
        return
    if launch.takes_the_rest_from_a_template:
        return
    if launch.reservation is None:
        yield (
            "its market is capacity-block but it targets no reservation, so nothing can launch; "
            "set the capacity reservation target to the cr- id of the Capacity Block"
        )
    if launch.instance_type is None:
        yield (
            "its market is capacity-block but it names no instance type, and a block holds "
            "exactly one; set instance_type to that of the Capacity Block"
        )


POLICY = ResourceValidationPolicy(
    name="capacity-block-triple",
    display_name="Capacity Block launches say market, reservation and instance type",
    description=(
        "A launch with the market type capacity-block targets a reservation "
        "and names its instance type."
    ),
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["capacity"],
    remediation_steps="Set the reservation target and the instance type in the launch template.",
    url="https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html",
    validate=on_types(*LAUNCHES, check=_check),
)

"""A launch in a placement group is of a kind that placement groups take.

Why:
    EC2 launches no Dedicated Host into a placement group, and no Spot Instance that stops or
    hibernates when it is interrupted. The launch template with both is accepted, and each launch
    from it is refused.
Fix:
    Remove the placement group, or the host; set `instance_interruption_behavior` to `terminate`.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/limitations-placement-groups.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.launches import LAUNCHES, Launch
from policies.resources.props import Facts, is_set
from policies.resources.types import INSTANCE, LAUNCH_TEMPLATE
from policies.rule import Config, on_types

_TENANCY: dict[str, tuple[str, ...]] = {LAUNCH_TEMPLATE: ("placement",), INSTANCE: ()}
_BEHAVIOUR = ("instanceMarketOptions", "spotOptions", "instanceInterruptionBehavior")
_HOSTS = ("hostId", "hostResourceGroupArn")


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    launch = Launch(resource_type, facts)
    if launch.placement_group is None:
        return
    where = _TENANCY[resource_type]
    on_host = any(is_set(facts.get(*where, key)) for key in _HOSTS)
    if on_host or facts.get(*where, "tenancy") == "host":
        yield (
            "it launches on a Dedicated Host and into a placement group, which EC2 refuses; "
            "remove one of the two"
        )
    behaviour = facts.needed(*_BEHAVIOUR)
    if launch.market_type == "spot" and behaviour in ("stop", "hibernate"):
        yield (
            f"it launches Spot Instances that {behaviour} into a placement group, which EC2 "
            "refuses; set instance_interruption_behavior to terminate, or remove the placement "
            "group"
        )


POLICY = ResourceValidationPolicy(
    name="placement-group-excludes",
    display_name="Launches in a placement group are of a kind that it takes",
    description=(
        "A launch in a placement group is not on a Dedicated Host, and its Spot Instances do not "
        "stop or hibernate."
    ),
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.MEDIUM,
    tags=["placement", "B15"],
    remediation_steps="Remove the placement group, or what it does not take.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/limitations-placement-groups.html",
    validate=on_types(*LAUNCHES, check=_check),
)

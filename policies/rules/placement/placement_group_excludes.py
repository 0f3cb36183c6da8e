"""A launch into a placement group uses neither a Dedicated Host nor Spot that stops or hibernates.

Why:
    EC2 does not launch Dedicated Hosts into a placement group, nor Spot Instances that stop or
    hibernate on interruption. It accepts the launch template and rejects every launch from it.
Fix:
    Remove the placement group or the host, or set `instance_interruption_behavior` to `terminate`.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/limitations-placement-groups.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.launches import LAUNCHES, Launch
from trainyard.policies.resources.props import Facts, is_set
from trainyard.policies.resources.types import INSTANCE, LAUNCH_TEMPLATE
from trainyard.policies.rule import Config, resource_rule

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
            "it launches on a Dedicated Host and into a placement group, which EC2 rejects; "
            "remove one of the two"
        )
    behaviour = facts.needed(*_BEHAVIOUR)
    if launch.market_type == "spot" and behaviour in ("stop", "hibernate"):
        yield (
            f"it launches Spot Instances that {behaviour} into a placement group, which EC2 "
            "rejects; set instance_interruption_behavior to terminate, or remove the placement "
            "group"
        )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.MEDIUM,
    tags=["B15"],
    types=LAUNCHES,
    check=_check,
)

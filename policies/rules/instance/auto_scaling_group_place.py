"""An Auto Scaling group names subnets or zones, not both.

Why:
    Subnets determine the zones. If the group also has `availability_zones`, Auto Scaling requires
    both to agree. Without subnets it uses the default VPC, where the security groups of the launch
    template are not valid.
Fix:
    Set `vpc_zone_identifiers` to the subnets, and remove `availability_zones`.
Source:
    https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_CreateAutoScalingGroup.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.props import Facts, is_set
from trainyard.policies.resources.types import AUTO_SCALING_GROUP
from trainyard.policies.rule import Config, resource_rule


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    both = ("availabilityZones", "vpcZoneIdentifiers")
    if all(is_set(facts.get(name)) and facts.count(name) for name in both):
        yield (
            "it names subnets and zones, which must then agree; remove availability_zones, because "
            "vpc_zone_identifiers already sets the zones"
        )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.LOW,
    tags=["network", "E13"],
    types=(AUTO_SCALING_GROUP,),
    check=_check,
)

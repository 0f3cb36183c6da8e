"""An Auto Scaling group says in one way where its nodes launch.

Why:
    Subnets already say the zones. With `availability_zones` beside them Auto Scaling demands that
    both agree, and without subnets it takes the default VPC's, where the security groups of the
    launch template are not valid.
Fix:
    Set `vpc_zone_identifiers` to the subnets, and leave `availability_zones` out.
Source:
    https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_CreateAutoScalingGroup.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from policies.resources.props import Facts, is_set
from policies.resources.types import AUTO_SCALING_GROUP
from policies.rule import Config, on_types


def _check(_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    both = ("availabilityZones", "vpcZoneIdentifiers")
    if all(is_set(facts.get(name)) and facts.count(name) for name in both):
        yield (
            "it names subnets and zones, which must then agree; leave availability_zones out, as "
            "vpc_zone_identifiers says where nodes launch"
        )


POLICY = ResourceValidationPolicy(
    name="auto-scaling-group-place",
    display_name="Auto Scaling groups name subnets or zones, not both",
    description="An Auto Scaling group names subnets or zones.",
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.LOW,
    tags=["instance", "network", "E13"],
    remediation_steps="Leave availability_zones out.",
    url="https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_CreateAutoScalingGroup.html",
    validate=on_types(AUTO_SCALING_GROUP, check=_check),
)

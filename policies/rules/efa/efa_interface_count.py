"""A launch template has at most as many EFA interfaces as its instance type supports.

Why:
    EC2 rejects a launch with more EFA interfaces than the maximum of the instance type. That
    maximum is not the number of network cards: p6-b300 has 17 cards and 16 EFA interfaces. EC2
    accepts the launch template, and only Auto Scaling reports the error.
Fix:
    Use at most the number in `NetworkInfo.EfaInfo.MaximumEfaInterfaces` of the instance type; none
    on a type without EFA.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_EfaInfo.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.policies.resources.launches import Launch
from trainyard.policies.resources.props import Facts
from trainyard.policies.resources.types import LAUNCH_TEMPLATE
from trainyard.policies.rule import Config, resource_rule


def _check(resource_type: str, facts: Facts, _config: Config) -> Iterator[str]:
    launch = Launch(resource_type, facts)
    count = len(launch.efa_interfaces())
    if not count:
        return
    instance_type = INSTANCE_TYPES.get(facts.needed("instanceType"))
    if instance_type is None or count <= instance_type.efa_interfaces:
        return
    if not instance_type.efa_supported:
        yield (
            f"it has {count} EFA interfaces, but {instance_type.name} has no EFA; "
            "remove the interface type, or choose an instance type with EFA"
        )
        return
    yield (
        f"it has {count} EFA interfaces, but {instance_type.name} takes at most "
        f"{instance_type.efa_interfaces}; remove {count - instance_type.efa_interfaces} of them"
    )


POLICY = resource_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["A1", "A4"],
    types=(LAUNCH_TEMPLATE,),
    check=_check,
)

"""A launch template has at most as many EFA interfaces as its instance type.

Why:
    EC2 refuses a launch with more EFA interfaces than the type's maximum, which is not the
    number of its network cards: p6-b300 has 17 cards and 16 EFA interfaces. On a type without
    EFA a single one is too many. The launch template itself is accepted, and only Auto Scaling
    learns of it.
Fix:
    Take the number from `NetworkInfo.EfaInfo.MaximumEfaInterfaces` of the instance type.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_EfaInfo.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, ResourceValidationPolicy, Severity

from components.catalog.instance_types import INSTANCE_TYPES
from policies.resources.launches import Launch
from policies.resources.props import Facts
from policies.resources.types import LAUNCH_TEMPLATE
from policies.rule import Config, on_types


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


POLICY = ResourceValidationPolicy(
    name="efa-interface-count",
    display_name="No more EFA interfaces than the instance type has",
    description="A launch template has at most as many EFA interfaces as its instance type.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["efa", "A1", "A4"],
    remediation_steps="Give the launch template at most the type's maximum of EFA interfaces.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html",
    validate=on_types(LAUNCH_TEMPLATE, check=_check),
)

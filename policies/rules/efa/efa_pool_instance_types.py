"""Every instance type of a pool has the EFA interfaces of the pool's launch template.

Why:
    A node group, an Auto Scaling group, a compute environment or a fleet may list types of its
    own, which go before the type of its launch template; the interfaces stay those of the
    template. A type without EFA, or with fewer EFA interfaces, is refused at each launch, and in
    a list of several types such a pool starts with some of them and fails with the others.
Fix:
    List only types with at least as many EFA interfaces, or give each type a pool and a launch
    template of its own.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html
    https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
    https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-mixed-instances-groups.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from components.catalog.instance_types import INSTANCE_TYPES
from policies.resources.pools import Pool, pools
from policies.resources.stack import Stack
from policies.rule import Config, on_stack


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for pool in pools(stack):
        for fault in _faults(pool):
            yield pool.resource.urn, fault


def _faults(pool: Pool) -> Iterator[str]:
    found = pool.efa_template()
    if found is None:
        return
    template, launch = found
    count = len(launch.efa_interfaces())
    for name in dict.fromkeys(pool.instance_types()):
        instance_type = INSTANCE_TYPES.get(name)
        if instance_type is None or count <= instance_type.efa_interfaces:
            continue
        has = f"at most {instance_type.efa_interfaces}" if instance_type.efa_supported else "none"
        interfaces = "EFA interface" if count == 1 else "EFA interfaces"
        yield (
            f"its launch template {template.name} has {count} {interfaces} and {name} takes "
            f"{has}, so a launch of that type fails; remove {name} from the instance types, or "
            "give it a launch template of its own"
        )


POLICY = StackValidationPolicy(
    name="efa-pool-instance-types",
    display_name="Every type of a pool has the EFA interfaces of its launch template",
    description=(
        "The instance types that a node group, Auto Scaling group, compute environment or fleet "
        "lists have at least as many EFA interfaces as its launch template."
    ),
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["efa", "A1", "A4", "A8"],
    remediation_steps="List only instance types with that many EFA interfaces.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html",
    validate=on_stack(_check),
)

"""Every instance type of a pool supports the EFA interfaces of its launch template.

Why:
    A node group, Auto Scaling group, compute environment or fleet can list instance types that
    replace the type of its launch template, but the interfaces remain those of the template. EC2
    rejects launches of a type without EFA or with fewer EFA interfaces. A pool with several types
    then starts with some types and fails with others.
Fix:
    List only types with at least as many EFA interfaces, or create a pool and a launch template for
    each type.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html
    https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
    https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-mixed-instances-groups.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.policies.resources.pools import Pool, pools
from trainyard.policies.resources.stack import Stack
from trainyard.policies.rule import Config, stack_rule


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
            "give it a separate launch template"
        )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["A1", "A4", "A8"],
    check=_check,
)

"""A group of nodes with EFA interfaces launches in one Availability Zone.

Why:
    EFA traffic does not cross Availability Zones. A group with subnets in several zones starts
    without an error, and its jobs hang or use TCP.
Fix:
    Give the node group, Auto Scaling group or compute environment one subnet, in the zone of the
    reservation.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html
    https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.pools import pools
from trainyard.policies.resources.stack import Stack
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for pool in pools(stack):
        found = pool.efa_template()
        if found is None:
            continue
        for spread in pool.spreads():
            yield (
                pool.resource.urn,
                (
                    f"its launch template {found[0].name} has EFA interfaces, but it spreads "
                    f"nodes over {spread.count} {spread.what}, and EFA does not cross zones; "
                    f"keep only one in {spread.key}, in the zone of the capacity"
                ),
            )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["network", "A6"],
    check=_check,
)

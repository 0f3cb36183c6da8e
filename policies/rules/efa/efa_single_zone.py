"""Nodes with EFA launch in one zone.

Why:
    EFA traffic does not cross Availability Zones. A group that spreads its nodes over subnets of
    several zones starts without an error, and the job on it hangs or runs over TCP.
Fix:
    Give the node group, Auto Scaling group or compute environment one subnet, that of the zone of
    the reservation.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html
    https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.pools import pools
from policies.resources.stack import Stack
from policies.rule import Config, on_stack


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
                    f"leave only one in {spread.key}, that of the zone of the capacity"
                ),
            )


POLICY = StackValidationPolicy(
    name="efa-single-zone",
    display_name="Nodes with EFA launch in one zone",
    description="A group of nodes with EFA interfaces launches in one Availability Zone.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["efa", "network", "A6"],
    remediation_steps="Give the node group or Auto Scaling group a single subnet.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html",
    validate=on_stack(_check),
)

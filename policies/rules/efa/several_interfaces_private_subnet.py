"""Nodes with several network interfaces launch in subnets without automatic public addresses.

Why:
    EC2 assigns a public address only to an instance with one new network interface. Nodes with
    several interfaces in a public subnet have no route to the internet and reach neither the
    cluster nor an image registry. ParallelCluster rejects such a queue.
Fix:
    Launch the nodes in private subnets with a NAT gateway or VPC endpoints. If the subnet is
    private, set `map_public_ip_on_launch` to false.
Source:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-instance-addressing.html
    https://docs.aws.amazon.com/vpc/latest/userguide/vpc-ip-addressing.html
    https://github.com/aws/aws-parallelcluster, MultiNetworkInterfacesInstancesValidator
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.pools import Pool, pools
from trainyard.policies.resources.props import is_true
from trainyard.policies.resources.stack import Stack
from trainyard.policies.rule import Config, stack_rule


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for pool in pools(stack):
        fault = _fault(stack, pool)
        if fault:
            yield pool.resource.urn, fault


def _fault(stack: Stack, pool: Pool) -> str | None:
    for template, launch in pool.templates():
        count = len(list(launch.interfaces()))
        if count < 2:
            continue
        for subnet in pool.subnets():
            if is_true(stack.facts_of(subnet.urn).get("mapPublicIpOnLaunch")):
                return (
                    f"its launch template {template.name} has {count} network interfaces, and "
                    f"subnet {subnet.name} assigns public addresses only to instances with one, so "
                    "its nodes have no route to the internet; launch them in a private subnet"
                )
    return None


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.HIGH,
    tags=["network", "A10"],
    check=_check,
)

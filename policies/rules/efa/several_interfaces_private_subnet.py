"""Nodes with several network interfaces launch in subnets without automatic public addresses.

Why:
    EC2 assigns a public address at a launch with one new network interface only. Nodes with more
    come up in a public subnet without the address that its route needs: they reach neither the
    cluster nor an image registry, and stand idle. ParallelCluster refuses such a queue.
Fix:
    Launch the nodes in private subnets with a NAT gateway or endpoints, or, where the subnet only
    looks public, set `map_public_ip_on_launch` to false.
Source:
    https://docs.aws.amazon.com/vpc/latest/userguide/vpc-ip-addressing.html
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-instance-addressing.html
    https://github.com/aws/aws-parallelcluster, MultiNetworkInterfacesInstancesValidator
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.pools import Pool, pools
from policies.resources.props import is_true
from policies.resources.stack import Stack
from policies.rule import Config, on_stack


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
                    f"subnet {subnet.name} gives public addresses to instances with one only, so "
                    "its nodes have none and no way out; launch them in a private subnet"
                )
    return None


POLICY = StackValidationPolicy(
    name="several-interfaces-private-subnet",
    display_name="Nodes with several interfaces launch in private subnets",
    description=(
        "A pool whose launch template has several network interfaces has no subnet that assigns "
        "public addresses."
    ),
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.HIGH,
    tags=["efa", "network", "A10"],
    remediation_steps="Launch the nodes in a private subnet.",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-instance-addressing.html",
    validate=on_stack(_check),
)

"""Checks of the subnet of a head node."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.facts import AccountFacts, SubnetFacts
from trainyard.components.checks.check import Subject
from trainyard.components.checks.pool_check import offering_problems
from trainyard.components.config.network import ExistingVpc
from trainyard.components.config.parallelcluster_nodes import HeadNode
from trainyard.components.config.problems import ROOT, Problem

HEAD_NODE_SUBNET = Subject(
    "architecture.head_node",
    "its subnet gives nodes access",
    calls=("ec2:DescribeSubnets",),
)
"""What `head_node_problems` checks."""

HEAD_NODE = f"{ROOT}.architecture.head_node"


def head_node_problems(
    head_node: HeadNode, network: ExistingVpc, facts: AccountFacts
) -> Iterator[Problem]:
    """Yield why a head node would not start in its subnet."""
    subnet = facts.subnets.get(head_node.subnet_id or "")
    if subnet is None:
        return
    yield from offering_problems(
        f"{HEAD_NODE}.instance_type", head_node.instance_type, subnet.subnet_id, facts
    )
    is_public = subnet.subnet_id in network.public_subnet_ids
    if is_public and not subnet.maps_public_addresses:
        yield _without_address(subnet)


def _without_address(subnet: SubnetFacts) -> Problem:
    # https://docs.aws.amazon.com/parallelcluster/latest/ug/network-configuration-v3.html: nodes in
    # a public subnet must get public addresses.
    return Problem(
        path=f"{HEAD_NODE}.subnet_id",
        found=f"{subnet.subnet_id}, which assigns no public IP addresses",
        problem=(
            "a head node here has no public IP address: it cannot reach the internet or AWS "
            "through the internet gateway, so the cluster creation fails, and users cannot "
            "connect to it"
        ),
        allowed="a public subnet with MapPublicIpOnLaunch, or a private one",
        remedy=(
            f"aws ec2 modify-subnet-attribute --subnet-id {subnet.subnet_id} "
            "--map-public-ip-on-launch, or set architecture.head_node.network to private"
        ),
    )

"""Networks that an update would replace under what cannot leave them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tools.changes.steps import Step

VPC = "aws:ec2/vpc:Vpc"
_STAYS: Mapping[str, str] = {
    "aws:eks/cluster:Cluster": "the control plane, which EKS never moves to another VPC",
    "aws:ec2/natGateway:NatGateway": (
        "a NAT gateway, which keeps its address from its successor and the internet gateway in its "
        "VPC"
    ),
}
"""What keeps a VPC from being replaced, for people, by type.

The engine makes what is new before it deletes what is gone. So the new subnets are given to the
control plane that there is, the new NAT gateway asks for the address of the old one, and the
internet gateway is to leave a VPC with mapped addresses: each of them AWS refuses.
https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html (subnets are of the same VPC as
the original ones)
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DetachInternetGateway.html
https://github.com/pulumi/pulumi-aws/issues/1483
"""


def moved_networks(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return the VPCs that would be replaced and are not empty enough for it."""
    found = tuple(steps)
    return tuple(
        step
        for step in found
        if step.type == VPC and step.operation == "replace" and what_stays(found)
    )


def what_stays(steps: Iterable[Step]) -> tuple[str, ...]:
    """Return what is in the networks of a stack and cannot leave them, each once."""
    there = {step.type for step in steps if step.operation != "create"}
    return tuple(words for type_token, words in _STAYS.items() if type_token in there)

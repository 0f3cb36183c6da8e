"""VPCs that an update would replace although resources in them cannot move."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trainyard.changes.steps import Step

VPC = "aws:ec2/vpc:Vpc"
_STAYS: Mapping[str, str] = {
    "aws:eks/cluster:Cluster": "the control plane, which EKS cannot move to another VPC",
    "aws:ec2/natGateway:NatGateway": (
        "a NAT gateway, which holds the Elastic IP address that its successor needs, and keeps "
        "the internet gateway in its VPC"
    ),
}
"""Text for the resource types that prevent the replacement of a VPC.

The engine creates new resources before it deletes old ones. It would assign new subnets to the
existing control plane, request the old NAT gateway's address for the new one, and detach the
internet gateway from a VPC with mapped addresses. AWS rejects each of these.
https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html (new subnets must be in the same
VPC as the original ones)
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DetachInternetGateway.html
https://github.com/pulumi/pulumi-aws/issues/1483
"""


def moved_networks(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return the VPCs that would be replaced while they contain such resources."""
    found = tuple(steps)
    return tuple(
        step
        for step in found
        if step.type == VPC and step.operation == "replace" and what_stays(found)
    )


def what_stays(steps: Iterable[Step]) -> tuple[str, ...]:
    """Return the resources in a stack's networks that cannot move, without duplicates."""
    there = {step.type for step in steps if step.operation != "create"}
    return tuple(words for type_token, words in _STAYS.items() if type_token in there)

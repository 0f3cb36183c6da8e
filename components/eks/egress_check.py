"""Checks that nodes in an existing VPC can pull the images that the program installs.

Source: https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html: without internet
access, every image must be in a private ECR registry.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.facts import AccountFacts
from trainyard.components.checks.check import Subject
from trainyard.components.config.problems import ROOT, Problem
from trainyard.components.eks.addons.registry import with_public_images
from trainyard.components.eks.plan import EksPlan

IMAGES_OF_PODS = Subject(
    "architecture",
    "the nodes reach the registries of their pods",
    calls=("ec2:DescribeRouteTables",),
)
"""What `egress_problems` checks."""


def egress_problems(plan: EksPlan, facts: AccountFacts) -> Iterator[Problem]:
    """Yield the images that nodes in subnets without a default route cannot pull."""
    if plan.network.is_new or not facts.could_read("ec2:DescribeRouteTables"):
        return
    closed = {name for name, subnet in facts.subnets.items() if subnet.default_route == "none"}
    waiting: dict[str, list[str]] = {}
    subnets: set[str] = set()
    for group in plan.node_groups:
        without_route = closed.intersection(group.subnets)
        needed = with_public_images(
            name for name, served in plan.self_managed_addons.items() if group.name in served
        )
        if without_route and needed:
            subnets |= without_route
            for what in needed:
                waiting.setdefault(what, []).append(group.name)
    if waiting:
        images = " and ".join(f"{what} ({', '.join(names)})" for what, names in waiting.items())
        yield Problem(
            path=f"{ROOT}.network.private_subnet_ids",
            found=f"{', '.join(sorted(subnets))}, no default route",
            problem=(
                f"the image of {images} lies in a public registry, which no node here would reach"
            ),
            allowed="subnets with a way to the internet",
            remedy="route 0.0.0.0/0 of these subnets to a NAT gateway, or give other subnets",
        )

"""Checks of the subnets of a queue."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.facts import AccountFacts
from trainyard.components.checks.check import Subject
from trainyard.components.config.parallelcluster import ParallelClusterArchitecture
from trainyard.components.config.problems import ROOT, Problem

QUEUE_SUBNETS = Subject(
    "architecture.queues",
    "have at most one subnet in each zone",
    calls=("ec2:DescribeSubnets",),
)
"""What `queue_subnet_problems` checks."""


def queue_subnet_problems(
    architecture: ParallelClusterArchitecture, facts: AccountFacts
) -> Iterator[Problem]:
    """Yield queues with two subnets in one zone, which EC2 Fleet does not support.

    Source: `QueueSubnetsValidator` of aws-parallelcluster 3.16.1, and
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-fleet-configuration-strategies.html
    """
    for name, queue in architecture.queues.items():
        met: dict[str, str] = {}
        for subnet_id in queue.subnet_ids:
            subnet = facts.subnets.get(subnet_id)
            if subnet is None:
                continue
            first = met.setdefault(subnet.zone_id, subnet_id)
            if first != subnet_id:
                yield Problem(
                    path=f"{ROOT}.architecture.queues.{name}.subnet_ids",
                    found=f"{first} and {subnet_id}, both in {subnet.availability_zone}",
                    problem="a queue can have one subnet per zone; EC2 Fleet rejects two",
                    allowed="at most one subnet in each zone",
                    remedy=f"remove {first} or {subnet_id}",
                )

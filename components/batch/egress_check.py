"""Checks that the nodes of a Batch stack can pull the images of its jobs.

Source: https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html: the endpoints
`ecr.api` and `ecr.dkr` serve private ECR registries, not public.ecr.aws or other registries.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.facts import AccountFacts
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.catalog.batch import comes_through_endpoints
from trainyard.components.checks.check import Subject
from trainyard.components.config.problems import ROOT, Problem

IMAGES_OF_JOBS = Subject(
    "architecture.job_definitions",
    "the nodes can reach the registries of the images",
    calls=("ec2:DescribeRouteTables",),
)
"""What `egress_problems` checks."""


def egress_problems(plan: BatchPlan, facts: AccountFacts) -> Iterator[Problem]:
    """Yield the job definitions whose image nodes without internet access cannot pull."""
    if plan.network.is_new or not facts.could_read("ec2:DescribeRouteTables"):
        return
    subnets = {each.name: each.subnets for each in plan.compute_environments}
    for definition in plan.job_definitions:
        image = definition.container.image
        if image is None or comes_through_endpoints(image, plan.region):
            continue
        closed = [
            subnet
            for subnet in subnets.get(definition.compute_environment, ())
            if subnet in facts.subnets and facts.subnets[subnet].default_route == "none"
        ]
        if closed:
            yield Problem(
                path=f"{ROOT}.architecture.job_definitions.{definition.name}.image",
                found=f"{image}, from {', '.join(closed)} without a default route",
                problem=(
                    f"nodes here can at most reach private ECR registries in {plan.region}, so "
                    "they cannot pull the image and every job fails"
                ),
                allowed=(
                    f"an image in a private registry of ECR in {plan.region}, or a way to the "
                    "internet"
                ),
                remedy=(
                    "route 0.0.0.0/0 of the subnet to a NAT gateway, or push the image into the "
                    "stack's own repository and set image: repository"
                ),
            )

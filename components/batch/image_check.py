"""Checks of the AMIs of the compute environments of a Batch stack.

Source: https://docs.aws.amazon.com/batch/latest/userguide/batch-ami-spec.html
"""

from __future__ import annotations

from collections.abc import Iterator

from components.account.facts import AccountFacts, ImageFacts
from components.catalog.instance_types import INSTANCE_TYPES
from components.config.batch import BatchArchitecture, ComputeEnvironment
from components.config.problems import ROOT, Problem

AVAILABLE = "available"


def image_problems(architecture: BatchArchitecture, facts: AccountFacts) -> Iterator[Problem]:
    """Yield why nodes would not start from the AMIs in the stack file."""
    if not facts.could_read("ec2:DescribeImages"):
        return
    for name, environment in architecture.compute_environments.items():
        if environment.custom_ami_id is None:
            continue
        path = f"{ROOT}.architecture.compute_environments.{name}"
        found = facts.images.get(environment.custom_ami_id)
        if found is None:
            yield Problem(
                path=f"{path}.custom_ami_id",
                found=environment.custom_ami_id,
                problem=(
                    "this image does not exist in this region, or is not shared with you; Batch "
                    "would make the compute environment INVALID"
                ),
                remedy="set the id of an AMI in this region, or set `image` to auto",
            )
        else:
            yield from _fit_problems(path, environment, found)


def _fit_problems(
    path: str, environment: ComputeEnvironment, found: ImageFacts
) -> Iterator[Problem]:
    if found.state != AVAILABLE:
        yield Problem(
            path=f"{path}.custom_ami_id",
            found=f"{found.image_id}, state {found.state}",
            problem="EC2 launches no instance from this AMI in its current state",
            allowed="an image that is available",
            remedy="wait until it is available, or use another AMI",
        )
    known = INSTANCE_TYPES.get(environment.instance_type)
    if known is not None and known.architecture != found.architecture:
        yield Problem(
            path=f"{path}.custom_ami_id",
            found=f"{found.image_id}, for {found.architecture}",
            problem=(
                f"{environment.instance_type} cannot run it: it is for a different architecture"
            ),
            allowed=f"an image for {known.architecture}",
            remedy="use another AMI, or another instance type",
        )
    if environment.root_volume.size_gib < found.root_volume_gib:
        yield Problem(
            path=f"{path}.root_volume.size_gib",
            found=environment.root_volume.size_gib,
            problem=f"the image {found.image_id} needs {found.root_volume_gib} GiB",
            allowed=f"{found.root_volume_gib} or more",
            remedy=f"set it to {found.root_volume_gib} or more",
        )

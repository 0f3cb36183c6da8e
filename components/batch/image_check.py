"""Checks of the AMIs of the compute environments of a Batch stack.

Source: https://docs.aws.amazon.com/batch/latest/userguide/batch-ami-spec.html
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.named_facts import ImageFacts
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.components.compute.root_volume import ROOT_DEVICE
from trainyard.components.config.batch import BatchArchitecture, ComputeEnvironment
from trainyard.components.config.problems import ROOT, Problem

AVAILABLE = "available"
WITHOUT_AGENT = (
    "al2023-ami-2023",
    "al2023-ami-minimal-",
    "amazon-eks-",
    "amzn2-ami-hvm-",
    "amzn2-ami-kernel-",
    "amzn2-ami-minimal-",
    "aws-parallelcluster-",
    "ubuntu/images/",
    "ubuntu-eks/",
)
"""Beginnings of the names of AMIs that AWS and Canonical publish without the ECS agent.

https://docs.aws.amazon.com/linux/al2023/ug/ec2.html
https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-ami.html
https://docs.aws.amazon.com/parallelcluster/latest/ug/pcluster.list-official-images-v3.html
https://documentation.ubuntu.com/aws/aws-how-to/instances/find-ubuntu-images/
"""


def image_problems(architecture: BatchArchitecture, facts: AccountFacts) -> Iterator[Problem]:
    """Yield why nodes would not start from the AMIs in the stack file."""
    if not facts.could_read("ec2:DescribeImages"):
        return
    for name, environment in architecture.compute_environments.items():
        if environment.custom_ami_id is None:
            continue
        path = f"{ROOT}.architecture.compute_environments.{environment.pool_named(name)}"
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


def image_warnings(architecture: BatchArchitecture, facts: AccountFacts) -> Iterator[str]:
    """Yield AMIs whose root volume does not get the size in the stack file."""
    for name, environment in architecture.compute_environments.items():
        found = facts.images.get(environment.custom_ami_id or "")
        if found is not None and found.root_device not in ("", ROOT_DEVICE):
            entry = environment.pool_named(name)
            yield (
                f"architecture.compute_environments.{entry}.custom_ami_id: the root device of "
                f"{found.image_id} is {found.root_device}, and root_volume is the volume "
                f"{ROOT_DEVICE}: the nodes get a second volume, and the root volume keeps the "
                f"{found.root_volume_gib} GiB of the image"
            )


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
    if found.from_amazon and found.name.startswith(WITHOUT_AGENT):
        yield Problem(
            path=f"{path}.custom_ami_id",
            found=f"{found.image_id}, {found.name}",
            problem=(
                "this image has no ECS agent, so its nodes never register, and jobs stay RUNNABLE"
            ),
            allowed="an ECS-optimized image, or one made from it",
            remedy="set `image` to auto, or give an image with the ECS agent",
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

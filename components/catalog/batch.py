"""Facts about AWS Batch and the ECS agent on its nodes.

Read in November 2026:

- Multi-node parallel jobs: https://docs.aws.amazon.com/batch/latest/userguide/mnp-node-groups.html
  (at most 1,000 nodes, which the schema says too, and one instance type) and
  https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html (no Spot Instances, at most five
  security groups, an interface for each container).
- Memory: https://docs.aws.amazon.com/batch/latest/userguide/memory-management.html (the agent
  offers the total memory of the kernel minus 32 MiB; m4.large has 7,985 of its 8,192 MiB).
- Images: https://docs.aws.amazon.com/batch/latest/APIReference/API_Ec2Configuration.html and
  https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-ami-storage-config.html (30 GiB).
- Networks without a NAT gateway:
  https://docs.aws.amazon.com/AmazonECS/latest/developerguide/vpc-endpoints.html and
  https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html.
- Repositories: https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_CreateRepository.html.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from trainyard.components.catalog.efa import HUGE_PAGE_MIB, reserved_huge_pages
from trainyard.components.catalog.image_references import PATH_PART, ImageReference, parsed
from trainyard.components.catalog.instance_types import Architecture, InstanceType

ImageType = Literal["ECS_AL2023", "ECS_AL2023_NVIDIA"]
_ECS_IMAGE_VARIANTS: Mapping[tuple[ImageType, str], str] = {
    ("ECS_AL2023", "x86_64"): "",
    ("ECS_AL2023", "arm64"): "arm64/",
    ("ECS_AL2023_NVIDIA", "x86_64"): "gpu/",
}
"""Part of the name of the SSM parameter, by image type and architecture.

https://docs.aws.amazon.com/AmazonECS/latest/developerguide/retrieve-ecs-optimized_AMI.html
"""

MOST_VCPUS = 2**31 - 1
"""Largest `maxvCpus`: an API Integer."""
MOST_ENVIRONMENTS_OF_QUEUE = 3
"""https://docs.aws.amazon.com/batch/latest/userguide/service_limits.html"""
MINIMUM_ROOT_VOLUME_GIB = 30
"""Size of the ECS-optimized AMIs."""
ENDPOINTS_WITHOUT_NAT = ("ecr.api", "ecr.dkr", "ecs", "ecs-agent", "ecs-telemetry", "logs")
"""Services that nodes and jobs call, for the agent, images and logs."""
REPOSITORY_NAME = rf"(?=.{{2,256}}$){PATH_PART}(?:/{PATH_PART})*"
"""Pattern of names of ECR repositories.

https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_CreateRepository.html
"""
_PRIVATE_REGISTRY = r"\d{{12}}\.dkr\.ecr\.{region}\.amazonaws\.com(?:\.cn)?"

_AGENT_MIB = 32
_SYSTEM_MIB = 224
"""Memory of kernel, crash kernel and firmware on instances of any size."""
_KERNEL_SHARE = 32
"""Divisor of the memory: the kernel keeps 64 bytes for each 4 KiB page, 1.6 %, and the same amount
again covers the additional overhead measured on m4.large."""
_SHARED_MEMORY_SHARE = 8
_MOST_SHARED_MEMORY_MIB = 49152
"""Value in the p5 template of https://github.com/awslabs/awsome-distributed-training."""


def comes_through_endpoints(image: str, region: str) -> bool:
    """Return whether interface endpoints of a region serve a container image.

    They serve private ECR registries in their region, but not public.ecr.aws.
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html
    """
    found = parsed(image)
    wanted = _PRIVATE_REGISTRY.format(region=re.escape(region))
    return isinstance(found, ImageReference) and re.fullmatch(wanted, found.registry) is not None


def image_type(instance_type: InstanceType) -> ImageType | None:
    """Return the ECS-optimized AMI type with the drivers of an instance type, or None.

    There is none for Trainium, for Inferentia and for NVIDIA GPUs with Graviton; Batch then
    requires an AMI id.
    https://docs.aws.amazon.com/batch/latest/APIReference/API_Ec2Configuration.html
    """
    accelerators = instance_type.accelerators
    if accelerators is None:
        return "ECS_AL2023"
    wanted: ImageType = "ECS_AL2023_NVIDIA"
    published = (wanted, instance_type.architecture) in _ECS_IMAGE_VARIANTS
    return wanted if accelerators.manufacturer == "nvidia" and published else None


def image_parameter(image_type: ImageType, architecture: Architecture) -> str:
    """Return the public SSM parameter with the AMI id of an image type."""
    variant = _ECS_IMAGE_VARIANTS[image_type, architecture]
    return f"/aws/service/ecs/optimized-ami/amazon-linux-2023/{variant}recommended/image_id"


def memory_for_jobs_mib(instance_type: InstanceType) -> int:
    """Return the memory, in MiB, that a job can safely request on this instance type.

    This is slightly less than what ECS offers: a job that requests more waits forever without an
    error. For types with EFA, the huge pages that the EFA installer reserves are subtracted: the
    ECS AMIs do not have the installer, but custom AMIs can.
    """
    memory = instance_type.memory_mib
    pages = reserved_huge_pages(instance_type.vcpus) if instance_type.efa_supported else 0
    taken = _AGENT_MIB + _SYSTEM_MIB + memory // _KERNEL_SHARE + pages * HUGE_PAGE_MIB
    return memory - taken


def shared_memory_mib(memory_mib: int) -> int:
    """Return the size of `/dev/shm`, in MiB, for a container with this memory.

    NCCL and data loaders share memory between the processes of a node; the Docker default of 64 MiB
    is not enough. Only used shared memory counts as container memory.
    https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html#shared-memory
    """
    return max(64, min(memory_mib // _SHARED_MEMORY_SHARE, _MOST_SHARED_MEMORY_MIB))


def efa_devices(count: int) -> tuple[str, ...]:
    """Return the device files of EFA interfaces.

    https://docs.aws.amazon.com/batch/latest/userguide/efa.html
    """
    return tuple(f"/dev/infiniband/uverbs{index}" for index in range(count))


def neuron_devices(count: int) -> tuple[str, ...]:
    """Return the device files of Neuron devices.

    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/containers/tutorials/tutorial-docker-env-setup.html
    """
    return tuple(f"/dev/neuron{index}" for index in range(count))

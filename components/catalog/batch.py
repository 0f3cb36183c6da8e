"""What the program knows of AWS Batch and of the ECS agent on its nodes.

Read in November 2026:

- Multi-node parallel jobs: https://docs.aws.amazon.com/batch/latest/userguide/mnp-node-groups.html
  (at most 1,000 nodes, which the schema says too, and one instance type) and
  https://docs.aws.amazon.com/batch/latest/userguide/mnp-ce.html (no Spot Instances, at most five
  security groups, an interface for each container).
- Memory: https://docs.aws.amazon.com/batch/latest/userguide/memory-management.html (the agent
  offers what the kernel calls its total, less 32 MiB; m4.large has 7,985 of its 8,192 MiB).
- Images: https://docs.aws.amazon.com/batch/latest/APIReference/API_Ec2Configuration.html and
  https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-ami-storage-config.html (30 GiB).
- Networks without a NAT gateway:
  https://docs.aws.amazon.com/AmazonECS/latest/developerguide/vpc-endpoints.html and
  https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html.
- Repositories: https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_CreateRepository.html.
"""

from __future__ import annotations

import re
from typing import Literal

from components.catalog.efa_huge_pages import HUGE_PAGE_MIB, reserved_huge_pages
from components.catalog.instance_type import InstanceType

ImageType = Literal["ECS_AL2023", "ECS_AL2023_NVIDIA"]

MOST_VCPUS = 2**31 - 1
"""Largest `maxvCpus`: an Integer of the API."""
MINIMUM_ROOT_VOLUME_GIB = 30
"""Size of the images that ECS publishes."""
ENDPOINTS_WITHOUT_NAT = ("ecr.api", "ecr.dkr", "ecs", "ecs-agent", "ecs-telemetry", "logs")
"""Services that nodes and jobs call: the agent's, the registry, and where the logs go."""
REPOSITORY_NAME = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
"""Form of a repository's name, which has 2 to 256 characters."""
_PRIVATE_REGISTRY = r"\d{{12}}\.dkr\.ecr\.{region}\.amazonaws\.com(?:\.cn)?/.+"

_AGENT_MIB = 32
_SYSTEM_MIB = 224
"""What the kernel's own code, its crash kernel and the firmware take on every size of instance."""
_KERNEL_SHARE = 32
"""One part in so many of the memory: the kernel keeps a record of 64 bytes for each page of 4 KiB,
1.6 %, and as much again covers what m4.large shows beyond that."""
_SHARED_MEMORY_SHARE = 8
_MOST_SHARED_MEMORY_MIB = 49152
"""What the p5 template of https://github.com/awslabs/awsome-distributed-training asks for."""


def comes_through_endpoints(image: str, region: str) -> bool:
    """Return whether interface endpoints of a region lead to a container image.

    They lead to private registries of ECR in their own region; public.ecr.aws is none.
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html
    """
    return re.fullmatch(_PRIVATE_REGISTRY.format(region=re.escape(region)), image) is not None


def image_type(instance_type: InstanceType) -> ImageType | None:
    """Return which ECS-optimized image has the drivers of a type; None where Batch has none.

    There is none for Trainium and Inferentia: Batch then needs an image by its id.
    """
    if instance_type.accelerators is None:
        return "ECS_AL2023"
    return "ECS_AL2023_NVIDIA" if instance_type.accelerators.manufacturer == "nvidia" else None


def memory_for_jobs_mib(instance_type: InstanceType) -> int:
    """Return the memory, in MiB, that a job can surely have of a node of this type.

    A little less than what ECS offers: a job that asks for more than that waits for ever, and
    nothing says why. Where the type has EFA, less by the huge pages that EFA's installer sets
    aside: the images of ECS have no installer, one of the user's own may.
    """
    memory = instance_type.memory_mib
    pages = reserved_huge_pages(instance_type.vcpus) if instance_type.efa_supported else 0
    taken = _AGENT_MIB + _SYSTEM_MIB + memory // _KERNEL_SHARE + pages * HUGE_PAGE_MIB
    return memory - taken


def shared_memory_mib(memory_mib: int) -> int:
    """Return the size of `/dev/shm`, in MiB, for a container with so much memory.

    NCCL shares memory between the processes of a node, and data loaders do; Docker's 64 MiB do
    not suffice. It counts as memory of the container only as far as it is used.
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

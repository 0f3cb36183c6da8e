"""Accelerated node groups of EKS have an image with the driver of their accelerators.

Why:
    EKS launches a p5.48xlarge with the image AL2023_x86_64_STANDARD without a word. The node is
    Ready, has no driver, and offers no GPU: pods stay Pending on the most expensive nodes there
    are. Neuron devices have images of their own.
Fix:
    Set `ami_type` to AL2023_x86_64_NVIDIA or AL2023_x86_64_NEURON; with drivers that you install
    yourself, use an image of your own (`CUSTOM`).
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-optimized-ami.html
    https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.node_groups import is_image_of_eks, known_instance_types
from policies.resources.stack import Stack
from policies.resources.types import EKS_NODE_GROUP
from policies.rule import Config, on_stack

_DRIVERS = {"nvidia": ("_NVIDIA", "_GPU"), "neuron": ("_NEURON", "_GPU", "BOTTLEROCKET_")}
"""Parts of the names of images with drivers. The accelerated AL2 has both, and Bottlerocket has
Neuron's in every variant."""
_FIX = {"nvidia": "AL2023_x86_64_NVIDIA", "neuron": "AL2023_x86_64_NEURON"}


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for group in stack.of_type(EKS_NODE_GROUP):
        image = stack.facts_of(group.urn).get("amiType")
        if not is_image_of_eks(image):
            continue
        for instance_type in known_instance_types(stack, group):
            accelerators = instance_type.accelerators
            if accelerators and not _has_driver(image, accelerators.manufacturer):
                yield (
                    group.urn,
                    (
                        f"it launches {instance_type.name} with the image {image}, which has no "
                        "driver for its accelerators; set ami_type to "
                        f"{_FIX[accelerators.manufacturer]}"
                    ),
                )


def _has_driver(image: str, manufacturer: str) -> bool:
    return any(part in image for part in _DRIVERS[manufacturer])


POLICY = StackValidationPolicy(
    name="eks-accelerated-image",
    display_name="Accelerated node groups have an image with drivers",
    description="The image type of a node group has the drivers of its accelerators.",
    enforcement_level=EnforcementLevel.ADVISORY,
    severity=Severity.HIGH,
    tags=["kubernetes", "instance", "E5", "E6"],
    remediation_steps="Set ami_type to one with the driver.",
    url="https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-optimized-ami.html",
    validate=on_stack(_check),
)

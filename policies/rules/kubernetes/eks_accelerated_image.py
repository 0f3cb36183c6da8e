"""The image type of an accelerated node group has the drivers of its accelerators.

Why:
    EKS launches a p5.48xlarge with the image AL2023_x86_64_STANDARD without a warning. The node
    becomes Ready without a driver and offers no GPU, so pods stay Pending on expensive nodes.
    Neuron devices need a Neuron image.
Fix:
    Set `ami_type` to AL2023_x86_64_NVIDIA or AL2023_x86_64_NEURON. If you install the drivers
    yourself, use a custom image (`CUSTOM`).
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-optimized-ami.html
    https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.node_groups import is_image_of_eks, known_instance_types
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import EKS_NODE_GROUP
from trainyard.policies.rule import Config, stack_rule

_DRIVERS = {"nvidia": ("_NVIDIA", "_GPU"), "neuron": ("_NEURON", "_GPU", "BOTTLEROCKET_")}
"""Parts of the names of images with drivers.

The accelerated AL2 image has both drivers, and every Bottlerocket variant has that of Neuron.
"""
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


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.ADVISORY,
    severity=Severity.HIGH,
    tags=["instance", "E5", "E6"],
    check=_check,
)

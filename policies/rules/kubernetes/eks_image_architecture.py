"""The image of a node group is of the architecture of its instance types.

Why:
    EKS refuses a node group whose image is for another architecture than its instances, such as
    AL2023_x86_64_STANDARD on Graviton, after the control plane has been waited for.
Fix:
    Set `ami_type` to the image of that architecture, or choose another instance type.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-ami.html
    https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.resources.node_groups import is_image_of_eks, known_instance_types
from policies.resources.stack import Stack
from policies.resources.types import EKS_NODE_GROUP
from policies.rule import Config, on_stack

_NAMED = {"x86_64": "x86_64", "arm64": "ARM_64"}
"""How the names of images spell the architectures of EC2."""


def _check(stack: Stack, _config: Config) -> Iterator[tuple[str, str]]:
    for group in stack.of_type(EKS_NODE_GROUP):
        image = stack.facts_of(group.urn).get("amiType")
        if not is_image_of_eks(image):
            continue
        for instance_type in known_instance_types(stack, group):
            if _NAMED[instance_type.architecture] not in image:
                yield (
                    group.urn,
                    (
                        f"its image {image} is not for {instance_type.name}, whose architecture "
                        f"is {instance_type.architecture}; set ami_type to an image of that one"
                    ),
                )


POLICY = StackValidationPolicy(
    name="eks-image-architecture",
    display_name="Node groups have an image of their architecture",
    description="The image type of a node group is of the architecture of its instance types.",
    enforcement_level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["kubernetes", "instance", "E4"],
    remediation_steps="Set ami_type to an image of the architecture.",
    url="https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-ami.html",
    validate=on_stack(_check),
)

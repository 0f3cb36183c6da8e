"""The image type of a node group matches the architecture of its instance types.

Why:
    EKS rejects a node group whose image has another architecture than its instances, such as
    AL2023_x86_64_STANDARD on Graviton, after the control plane is ready.
Fix:
    Set `ami_type` to an image of that architecture, or choose another instance type.
Source:
    https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-ami.html
    https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html
"""

from __future__ import annotations

from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Severity

from trainyard.policies.resources.node_groups import is_image_of_eks, known_instance_types
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import EKS_NODE_GROUP
from trainyard.policies.rule import Config, stack_rule

_NAMED = {"x86_64": "x86_64", "arm64": "ARM_64"}
"""Architectures of EC2 as the names of images spell them."""


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
                        f"is {instance_type.architecture}; set ami_type to an image for it"
                    ),
                )


POLICY = stack_rule(
    __name__,
    __doc__,
    level=EnforcementLevel.MANDATORY,
    severity=Severity.HIGH,
    tags=["instance", "E4"],
    check=_check,
)

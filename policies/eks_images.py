"""The images of EKS, and the instance types that they are launched on.

Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html (`amiType`)
"""

from __future__ import annotations

from typing import TypeGuard

from pulumi_policy import PolicyResource

from components.catalog.instance_type import InstanceType
from components.catalog.instance_types import INSTANCE_TYPES
from policies.node_pools import Pool
from policies.stack import Stack


def is_image_of_eks(image: object) -> TypeGuard[str]:
    """Whether a value names one of the image types of EKS: not an own image, and not unknown."""
    return isinstance(image, str) and image not in ("", "CUSTOM")


def instance_types_of(stack: Stack, group: PolicyResource) -> list[InstanceType]:
    """Return the known instance types of a node group, by name, in the group or its template."""
    pool = Pool(stack, group)
    names = {*pool.instance_types()}
    for _, launch in pool.templates():
        names.update(pool.launched_types(launch))
    known = {each.name: each for name in names if (each := INSTANCE_TYPES.get(name))}
    return [known[name] for name in sorted(known)]

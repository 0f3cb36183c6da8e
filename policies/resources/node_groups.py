"""Instance types, operating system and size of a group of nodes."""

from __future__ import annotations

import math
from typing import TypeGuard

from pulumi_policy import PolicyResource

from trainyard.components.catalog.instance_types import INSTANCE_TYPES, InstanceType
from trainyard.policies.resources.launches import LAUNCHES, MIXED
from trainyard.policies.resources.pools import POOLS, Pool
from trainyard.policies.resources.props import UNKNOWN, Facts, whole_number
from trainyard.policies.resources.stack import Stack
from trainyard.policies.resources.types import (
    AUTO_SCALING_GROUP,
    BATCH_COMPUTE_ENVIRONMENT,
    EKS_NODE_GROUP,
    INSTANCE,
)

LINUX, WINDOWS = "Linux/UNIX", "Windows"

_OVERRIDES = (*MIXED, "overrides")
_RESOURCES = "computeResources"
_IMAGE_TYPE = (_RESOURCES, "ec2Configurations", 0, "imageType")


def instance_types_of(
    stack: Stack, group: PolicyResource, template: PolicyResource | None
) -> frozenset[str] | None:
    """Return the types that a group launches; None if one is unknown or is a family."""
    found: set[object] = set(_listed_types(stack, group))
    for each in (group, template):
        if not found and each is not None and each.resource_type in LAUNCHES:
            found = {stack.facts_of(each.urn).needed("instanceType")} - {None}
    # Batch also accepts a family (`p5`) and `optimal`, which do not name a type.
    known = {str(each) for each in found if each and each is not UNKNOWN and "." in str(each)}
    return frozenset(known) if known and len(known) == len(found) else None


def _listed_types(stack: Stack, group: PolicyResource) -> list[object]:
    return Pool(stack, group).instance_types() if group.resource_type in POOLS else []


def platform_of(stack: Stack, group: PolicyResource) -> str | None:
    """Return the platform of the images of a group, as capacity reservations name it.

    None for a custom image, which has only an id.

    Source:
        https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html, amiType
        https://docs.aws.amazon.com/batch/latest/APIReference/API_Ec2Configuration.html
    """
    facts = stack.facts_of(group.urn)
    if group.resource_type == EKS_NODE_GROUP:
        image = facts.get("amiType")
        if isinstance(image, str) and image.startswith(("AL2", "BOTTLEROCKET")):
            return LINUX
        return WINDOWS if isinstance(image, str) and image.startswith("WINDOWS") else None
    if group.resource_type == BATCH_COMPUTE_ENVIRONMENT:
        own = facts.first(
            (_RESOURCES, "imageId"), (*_IMAGE_TYPE[:-1], "imageIdOverride"), ("launchTemplate",)
        )
        image = facts.get(*_IMAGE_TYPE)
        linux = own is None and isinstance(image, str) and image.startswith(("ECS_AL", "EKS_AL"))
        return LINUX if linux else None
    return None


def sizes_of(
    stack: Stack, group: PolicyResource, types: frozenset[str] | None
) -> tuple[int | None, int | None]:
    """Return how many nodes a group launches at once, and at most; None if that is unknown."""
    facts = stack.facts_of(group.urn)
    if group.resource_type == INSTANCE:
        return 1, 1
    if group.resource_type == EKS_NODE_GROUP:
        scaling = "scalingConfig"
        return _number(facts, scaling, "desiredSize"), _number(facts, scaling, "maxSize")
    if group.resource_type == BATCH_COMPUTE_ENVIRONMENT:
        return _batch_sizes(facts, types)
    if group.resource_type != AUTO_SCALING_GROUP or _weighted(facts):
        return None, None
    wanted = (_number(facts, "desiredCapacity"), _number(facts, "minSize"))
    known = [each for each in wanted if each is not None]
    return max(known, default=None), _number(facts, "maxSize")


def _weighted(facts: Facts) -> bool:
    """Whether the sizes of an Auto Scaling group count something other than instances."""
    if facts.get("desiredCapacityType") not in (None, "", "units"):
        return True
    weights = (
        facts.get(*_OVERRIDES, index, "weightedCapacity")
        for index in range(facts.count(*_OVERRIDES))
    )
    return any(weight is not None for weight in weights)


def _batch_sizes(facts: Facts, types: frozenset[str] | None) -> tuple[int | None, int | None]:
    known = INSTANCE_TYPES.get(next(iter(types))) if types is not None and len(types) == 1 else None
    if known is None:
        return None, None
    minimum, maximum = (_number(facts, _RESOURCES, key) for key in ("minVcpus", "maxVcpus"))
    return (
        None if minimum is None else math.ceil(minimum / known.vcpus),
        None if maximum is None else maximum // known.vcpus,
    )


def _number(facts: Facts, *path: str | int) -> int | None:
    return whole_number(facts.get(*path))


def is_image_of_eks(image: object) -> TypeGuard[str]:
    """Whether `amiType` names an image of EKS: neither a custom image nor unknown.

    Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html, amiType
    """
    return isinstance(image, str) and image not in ("", "CUSTOM")


def known_instance_types(stack: Stack, group: PolicyResource) -> list[InstanceType]:
    """Return the types of the catalog that a node group or its template names, by name."""
    pool = Pool(stack, group)
    names = {*pool.instance_types()}
    for _, launch in pool.templates():
        names.update(pool.launched_types(launch))
    known = {each.name: each for name in names if (each := INSTANCE_TYPES.get(name))}
    return [known[name] for name in sorted(known)]

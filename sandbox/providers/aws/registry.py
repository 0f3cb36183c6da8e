"""Every type of resource that the sandbox's `aws` plugin knows, by token."""

from __future__ import annotations

from sandbox.providers.aws.resource import ResourceType
from sandbox.providers.aws.resources import (
    auto_scaling,
    eks_cluster,
    eks_nodes,
    iam,
    launch_template,
    security_groups,
)

RESOURCE_TYPES: dict[str, ResourceType] = {
    kind.token: kind
    for module in (auto_scaling, eks_cluster, eks_nodes, iam, launch_template, security_groups)
    for kind in module.RESOURCE_TYPES
}

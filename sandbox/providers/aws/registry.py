"""Every type of resource that the sandbox's `aws` plugin knows, by token."""

from __future__ import annotations

from sandbox.providers.aws.resource import ResourceType
from sandbox.providers.aws.resources import (
    auto_scaling,
    auto_scaling_hooks,
    batch_environment,
    batch_jobs,
    cloudformation_stack,
    ecr,
    eks_addon,
    eks_cluster,
    eks_nodes,
    endpoints,
    fsx,
    fsx_openzfs,
    gateways,
    iam,
    iam_role_policy,
    key_pairs,
    launch_template,
    logs,
    resource_groups,
    resource_shares,
    routes,
    security_groups,
    vpc,
)

_MODULES = (
    auto_scaling,
    auto_scaling_hooks,
    batch_environment,
    batch_jobs,
    cloudformation_stack,
    ecr,
    eks_addon,
    eks_cluster,
    eks_nodes,
    endpoints,
    fsx,
    fsx_openzfs,
    gateways,
    iam,
    iam_role_policy,
    key_pairs,
    launch_template,
    logs,
    resource_groups,
    resource_shares,
    routes,
    security_groups,
    vpc,
)

RESOURCE_TYPES: dict[str, ResourceType] = {
    kind.token: kind for module in _MODULES for kind in module.RESOURCE_TYPES
}

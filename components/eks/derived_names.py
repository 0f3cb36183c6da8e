"""The names that pulumi-eks and node groups derive from those of the stack and its groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from components.checks.derived_names import NODE_ROLE, DerivedName, NamedPart
from components.config.eks_stack import EksStackConfig
from components.eks.node_group_plan import SYSTEM_NODE_GROUP
from components.naming import (
    EKS_NODE_GROUP_NAME_LIMIT,
    IAM_ROLE_NAME_LIMIT,
    MANAGED_NODE_GROUP,
)

_NODE_GROUP = DerivedName(
    "{stack}-{part}" + MANAGED_NODE_GROUP, EKS_NODE_GROUP_NAME_LIMIT, "its node group in EKS"
)
CLUSTER_NAMES = (
    # The role is a child of pulumi-eks.
    DerivedName("{stack}-eks-eksRole-role", IAM_ROLE_NAME_LIMIT, "the IAM role of the cluster"),
    *(
        replace(each, pattern=each.logical("{stack}", SYSTEM_NODE_GROUP), resource=resource)
        for each, resource in (
            (NODE_ROLE, "the IAM role of the system nodes"),
            (_NODE_GROUP, "the system node group"),
        )
    ),
)
"""Names that are derived from the name of the stack alone."""


def named_groups(config: EksStackConfig) -> Iterator[NamedPart]:
    """Yield the node groups of the stack file; a self-managed one has only a role."""
    for name, group in config.architecture.node_groups.items():
        derived = (NODE_ROLE, _NODE_GROUP) if group.management == "managed" else (NODE_ROLE,)
        yield NamedPart("node_groups", "node group", name, derived)

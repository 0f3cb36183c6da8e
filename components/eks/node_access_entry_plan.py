"""Properties of a node role's access entry, and how to recognize the role by its name.

Source: https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
"""

from __future__ import annotations

import re
from collections.abc import Collection

EC2_LINUX = "EC2_LINUX"
"""Entry type for nodes. EKS sets its user name and groups."""
NODE_GROUP = "system:nodes"
"""Kubernetes group that EKS assigns to this entry type."""


def role_logical_name(cluster_name: str, group: str) -> str:
    """Return the logical name of a node group's role; the physical one begins with it."""
    return f"{cluster_name}-{group}-role"


def is_node_role_of(arn: str, cluster_name: str, group: str) -> bool:
    """Return whether an ARN is that of the role that the stack creates for a node group.

    Pulumi appends a hyphen and seven hexadecimal digits to the logical name.
    """
    name = re.escape(role_logical_name(cluster_name, group))
    return re.fullmatch(rf"arn:[^:]+:iam::\d+:role/(?:.*/)?{name}-[0-9a-f]{{7}}", arn) is not None


def entry_fault(entry_type: str, groups: Collection[str]) -> str | None:
    """Return why an access entry does not let nodes join, or None if it does."""
    if entry_type != EC2_LINUX:
        return f"is of type {entry_type}, not {EC2_LINUX}"
    if NODE_GROUP not in groups:
        return f"puts its callers in {', '.join(groups) or 'no group'}, not in {NODE_GROUP}"
    return None

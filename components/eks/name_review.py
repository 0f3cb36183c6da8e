"""Checks that derived names fit into the limits of AWS.

Pulumi derives physical names from logical names. Names that are too long would fail during `up`, so
they are refused before.
"""

from __future__ import annotations

from components.config.eks_stack import EksStackConfig
from components.config.network import NewVpc
from components.config.review import Review
from components.eks.node_group_plan import SYSTEM_NODE_GROUP
from components.naming import (
    EKS_NODE_GROUP_NAME_LIMIT,
    IAM_ROLE_NAME_LIMIT,
    MANAGED_NODE_GROUP,
    excess_length,
)

# Logical names in the components; `eksRole-role` is from pulumi-eks.
_CLUSTER_ROLE = "{cluster}-eks-eksRole-role"
_FLOW_LOGS_ROLE = "{cluster}-network-flow-logs-role"
_NODE_ROLE = "{cluster}-{group}-role"
_MANAGED_NODE_GROUP = "{cluster}-{group}" + MANAGED_NODE_GROUP


def review_names(config: EksStackConfig, review: Review) -> None:
    """Refuse cluster and node group names whose derived names are too long."""
    managed = {
        SYSTEM_NODE_GROUP: True,
        **{
            name: group.management == "managed"
            for name, group in config.architecture.node_groups.items()
        },
    }
    over = max(
        _excess(_CLUSTER_ROLE, IAM_ROLE_NAME_LIMIT, config.name),
        _excess(_FLOW_LOGS_ROLE, IAM_ROLE_NAME_LIMIT, config.name) if _flow_logs(config) else 0,
        _group_excess(config.name, SYSTEM_NODE_GROUP, managed=True),
    )
    if over > 0:
        review.refuse(
            "name",
            "is too long: names of roles and node groups contain it, and AWS limits their length",
            found=config.name,
            allowed=f"at most {len(config.name) - over} characters",
            remedy=review.set_command("name", "SHORTER"),
        )
        return
    for group, is_managed in managed.items():
        over = _group_excess(config.name, group, managed=is_managed)
        if over > 0:
            review.refuse(
                f"architecture.node_groups.{group}",
                "has a name that is too long in combination with that of the cluster: the names "
                "of its role and node group contain both, and AWS limits their length",
                found=group,
                allowed=f"at most {len(group) - over} characters",
                remedy="rename the node group, or shorten `name`",
            )


def _flow_logs(config: EksStackConfig) -> bool:
    return isinstance(config.network, NewVpc) and config.network.flow_logs


def _group_excess(cluster: str, group: str, *, managed: bool) -> int:
    role = _excess(_NODE_ROLE, IAM_ROLE_NAME_LIMIT, cluster, group)
    if not managed:
        return role
    return max(role, _excess(_MANAGED_NODE_GROUP, EKS_NODE_GROUP_NAME_LIMIT, cluster, group))


def _excess(template: str, limit: int, cluster: str, group: str = "") -> int:
    return excess_length(template.format(cluster=cluster, group=group), limit)

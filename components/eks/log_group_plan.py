"""The log group of a control plane.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html
    https://docs.aws.amazon.com/eks/latest/userguide/view-cluster-logs.html: the name of the group
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.components.config.eks_stack import EksStackConfig
from trainyard.components.eks.plan import LogGroupPlan

NEW_RETENTION_DAYS = 90
"""As in terraform-aws-eks: `cloudwatch_log_group_retention_in_days` in its `variables.tf`."""


def control_plane_log_group(cluster_name: str) -> str:
    """Return the name of the log group of a control plane."""
    return f"/aws/eks/{cluster_name}/cluster"


def plan_log_group(config: EksStackConfig, adopted: Mapping[str, int]) -> LogGroupPlan | None:
    """Return the log group of the control plane, or None if it sends no logs.

    Args:
        config: The stack file.
        adopted: Days to keep the events of groups that the stack adopts, by name.
    """
    architecture, name = config.architecture, control_plane_log_group(config.name)
    if not architecture.log_types:
        return None
    wanted = architecture.log_retention_days
    return LogGroupPlan(
        name=name,
        retention_days=adopted.get(name, NEW_RETENTION_DAYS) if wanted is None else wanted,
        adopted=name in adopted,
    )

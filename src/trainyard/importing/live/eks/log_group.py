"""The log group of a control plane, which EKS or another tool has created.

Source: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_LogGroup.html
"""

from __future__ import annotations

from trainyard.components.eks.log_group_plan import control_plane_log_group
from trainyard.importing.reader import Reader
from trainyard.importing.rewritten import Rewritten

CALL = "DescribeLogGroups"
_RETENTION = ("cloudWatch", "clusterLogging", "logRetentionInDays")


def take_log_group(source: Reader, config: Rewritten, *, stack: str) -> None:
    """Set the retention to that of the log group.

    A group without one keeps logs forever, which EKS and not its owner has chosen: only the stack
    of the same name, which adopts it, keeps that.
    """
    for group in source.at(CALL).items():
        name = group.at("logGroupName")
        if group.at("retentionInDays").exists:
            config.take(_RETENTION, group.at("retentionInDays"))
        elif name.value == control_plane_log_group(stack):
            config.take(_RETENTION, name, lambda _: 0)

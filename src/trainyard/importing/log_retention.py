"""The retention of the log group of a control plane."""

from __future__ import annotations

from typing import get_args

from trainyard.components.config.monitoring import GroupRetentionDays
from trainyard.importing.cloudformation.values import whole
from trainyard.importing.draft import Draft
from trainyard.importing.reader import Reader


def take_retention(architecture: Draft, source: Reader) -> None:
    """Set `log_retention_days` to a number of days, if CloudWatch Logs has this retention."""
    days = whole(source)
    if days in get_args(GroupRetentionDays):
        architecture.take("log_retention_days", source, change=lambda _: days)

"""The section `Monitoring`.

Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/Monitoring-v3.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.components.config.parallelcluster import Monitoring

MONITORING_KEYS: Mapping[str, str] = {
    "DetailedMonitoring": "detailed",
    "Logs": "logs",
    "Logs.CloudWatch.RetentionInDays": "log_retention_days",
    "Logs.CloudWatch.DeletionPolicy": "keep_logs",
    "Dashboards": "dashboard",
    "Alarms": "alarms",
}
"""Stack file key of each setting of the monitoring."""


def render_monitoring(monitoring: Monitoring) -> dict[str, Any]:
    """Return the section with all values explicit, because ParallelCluster defaults can change."""
    return {
        "DetailedMonitoring": monitoring.detailed,
        "Logs": {"CloudWatch": _logs(monitoring)},
        "Dashboards": {"CloudWatch": {"Enabled": monitoring.dashboard}},
        "Alarms": {"Enabled": monitoring.alarms},
    }


def _logs(monitoring: Monitoring) -> dict[str, Any]:
    if not monitoring.logs:
        return {"Enabled": False}
    return {
        "Enabled": True,
        "RetentionInDays": monitoring.log_retention_days,
        "DeletionPolicy": "Retain" if monitoring.keep_logs else "Delete",
    }

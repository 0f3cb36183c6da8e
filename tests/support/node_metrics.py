"""The destinations of metrics of nodes, as values of `monitoring` in a stack file."""

from __future__ import annotations

from typing import Any

CLOUDWATCH: dict[str, Any] = {"node_metrics": "cloudwatch"}
WORKSPACE_ID = "ws-0a000000-0000-4000-8000-000000000001"
"""The workspace of the sandbox's account."""
WORKSPACE_ARN = f"arn:aws:aps:us-west-2:123456789012:workspace/{WORKSPACE_ID}"
PROMETHEUS: dict[str, Any] = {"node_metrics": "prometheus", "workspace_arn": WORKSPACE_ARN}

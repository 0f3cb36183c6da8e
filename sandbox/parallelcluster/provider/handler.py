"""The Lambda function: handles CloudFormation's requests for a cluster."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainyard.sandbox.parallelcluster.provider.account import (
    Records,
    client,
    make_group_of_function,
)
from trainyard.sandbox.parallelcluster.provider.clusters import Clusters
from trainyard.sandbox.parallelcluster.provider.requests import (
    RefusedError,
    as_reported,
    is_retained,
    read_request,
)

# Responses of a custom resource to CloudFormation.
#
# Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-responses.html,
# and crhelper for the length of a reason:
# https://github.com/aws-cloudformation/custom-resource-helper/blob/main/crhelper/resource_helper.py


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


# The Lambda function: handles CloudFormation's requests for a cluster.
#
# The real provider handles a request in several runs of the function, which AWS ends after a
# minute, and polls the state of the cluster in each; here a cluster exists at once.


LOG = logging.getLogger("trainyard.sandbox.parallelcluster")

LOG_VARIABLE = "TRAINYARD_PROVIDER_LOG"
"""Environment variable of the function that names its log file."""

_MESSAGES_LIMIT = 2048
_PARENT_POLL_SECONDS = 0.5


def handler(event: Mapping[str, Any], context: Any) -> None:
    """Handle one request of CloudFormation (AWS Lambda's signature)."""
    log_group = str(context.log_group_name)
    clusters = Clusters(client, Records.of_this_function(), log_group=log_group)
    name = event["ResourceProperties"].get("ClusterName")
    physical_id = event.get("PhysicalResourceId") or _id_of_nothing(event)
    LOG.info("stand-in of ParallelCluster's provider: %s %s", event["RequestType"], name)
    try:
        make_group_of_function(client, log_group, event["StackId"])
        data = _answer(clusters, event)
    except RefusedError as error:
        LOG.warning("%s %s is refused: %s", event["RequestType"], name, error)
        send(event, status="FAILED", physical_id=physical_id, reason=str(error))
    except Exception as error:
        LOG.exception("%s %s broke", event["RequestType"], name)
        reason = f"the sandbox's provider broke: {type(error).__name__}: {error}"
        send(event, status="FAILED", physical_id=physical_id, reason=reason)
    else:
        made = name if event["RequestType"] == "Create" else physical_id
        send(event, status="SUCCESS", physical_id=str(made), data=data)


def _id_of_nothing(event: Mapping[str, Any]) -> str:
    """Return the id of a resource that was not created; it is no cluster's, so none is deleted."""
    return f"{event['StackId'].split('/')[1]}_{event['LogicalResourceId']}_{event['RequestId']}"


def _answer(clusters: Clusters, event: Mapping[str, Any]) -> dict[str, Any]:
    if event["RequestType"] == "Delete":
        _delete(clusters, event)
        return {}
    request = read_request(client, event)
    do = clusters.create if event["RequestType"] == "Create" else clusters.update
    said = json.dumps(as_reported(do(request)))
    if len(said) > _MESSAGES_LIMIT:
        said = f"TRUNCATED:{said[:_MESSAGES_LIMIT]}"
    return {**flattened(clusters.describe(request.name)), "validationMessages": said}


def _delete(clusters: Clusters, event: Mapping[str, Any]) -> None:
    """Delete the cluster of a resource; a resource whose creation failed has none."""
    properties = event["ResourceProperties"]
    if not is_retained(properties) and event["PhysicalResourceId"] == properties.get("ClusterName"):
        clusters.delete(properties["ClusterName"])


def _prepare() -> None:
    """Open the log, and tie this process to its parent."""
    path = os.environ.get(LOG_VARIABLE)
    if path is None:
        return
    logging.basicConfig(
        filename=Path(path),
        level=logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _end_with(parent: int) -> None:
    # Otherwise a function that waits for a response of the account would outlive its parent.
    while os.getppid() == parent:
        time.sleep(_PARENT_POLL_SECONDS)
    os._exit(1)


_prepare()

"""The CloudFormation stack that ParallelCluster creates for each cluster, with the same name.

Here it contains only a wait condition handle, because the provider itself creates the parts of the
cluster. It reserves the name: no other stack can have it, and no cluster can have the name of a
stack.
"""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

from sandbox.parallelcluster.provider import naming
from sandbox.parallelcluster.provider.account import Clients
from sandbox.parallelcluster.provider.model import Cluster

_TEMPLATE = {
    "Description": "Sandbox stand-in for the stack of a cluster of AWS ParallelCluster",
    "Resources": {"Handle": {"Type": "AWS::CloudFormation::WaitConditionHandle"}},
}
_LOG_GROUP_PARAMETER = "ClusterCWLogGroup"
"""`CW_LOGS_CFN_PARAM_NAME` in `pcluster/constants.py`."""
_POLL_SECONDS = 0.05
_TIMEOUT_SECONDS = 300.0


def find_stack(clients: Clients, name: str) -> dict[str, Any] | None:
    """Return the stack of a name as CloudFormation describes it, or None."""
    try:
        return clients("cloudformation").describe_stacks(StackName=name)["Stacks"][0]
    except ClientError as error:
        if "does not exist" in error.response["Error"]["Message"]:
            return None
        raise


def make_stack(clients: Clients, cluster: Cluster) -> str:
    """Create the stack of a cluster; return its ARN."""
    made = clients("cloudformation").create_stack(
        StackName=cluster.name,
        TemplateBody=json.dumps({**_TEMPLATE, **_parameters(cluster)}),
        Tags=naming.tag_list(cluster.tags),
    )
    _wait(clients, cluster.name)
    return made["StackId"]


def _parameters(cluster: Cluster) -> dict[str, Any]:
    """Return the parameter that holds the log group's name; source: `cluster_stack.py`."""
    if not cluster.has_log_group:
        return {}
    group = f"/aws/parallelcluster/{cluster.name}-{datetime.now(UTC):%Y%m%d%H%M}"
    return {"Parameters": {_LOG_GROUP_PARAMETER: {"Type": "String", "Default": group}}}


def remove_stack(clients: Clients, name: str) -> None:
    """Remove the stack of a cluster, if it exists."""
    clients("cloudformation").delete_stack(StackName=name)
    _wait(clients, name)


def _wait(clients: Clients, name: str) -> None:
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while "IN_PROGRESS" in ((find_stack(clients, name) or {}).get("StackStatus", "")):
        if time.monotonic() > deadline:
            raise TimeoutError(f"stack {name} does not settle")
        time.sleep(_POLL_SECONDS)

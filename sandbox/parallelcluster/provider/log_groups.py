"""The log groups of a cluster, and that of the function which makes it.

They have the tags of their stacks, as CloudFormation gives them. Those of a cluster stay after its
deletion, unless `DeletionPolicy` of its logs is `Delete`; that of the function always stays.

Source:
    https://github.com/aws/aws-parallelcluster/blob/451cc5320d5d/cli/src/pcluster/templates/cluster_stack.py
    (`_add_cluster_log_group`), `cdk_builder_utils.py` there (`PclusterLambdaConstruct`,
    `get_log_group_deletion_policy`), and cloudformation/custom_resource/cluster.yaml in the same
    repository (`PclusterCfnFunctionLogGroup`: `Retain`, 90 days)
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-console-add-tags.html
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from trainyard.sandbox.parallelcluster.provider.account import Clients
from trainyard.sandbox.parallelcluster.provider.model import Cluster

PARAMETER = "ClusterCWLogGroup"
"""Parameter of the stack of a cluster with the name of its log group: `CW_LOGS_CFN_PARAM_NAME` in
`pcluster/constants.py`."""
_DAYS_OF_THE_FUNCTION = 90


def name_of(cluster: str) -> str:
    """Return the name of the log group of a new cluster."""
    return f"/aws/parallelcluster/{cluster}-{datetime.now(UTC):%Y%m%d%H%M}"


def make_groups(clients: Clients, cluster: Cluster, stack: Mapping[str, Any]) -> None:
    """Make the groups of a cluster, whose stack CloudFormation describes so."""
    for name in _groups_of(stack):
        _make(clients, name, cluster.tags, cluster.log_retention_days)


def remove_groups(clients: Clients, stack: Mapping[str, Any]) -> None:
    """Remove the groups of a cluster that does not keep them."""
    logs = clients("logs")
    for name in _groups_of(stack):
        if _exists(clients, name):
            logs.delete_log_group(logGroupName=name)


def make_group_of_function(clients: Clients, name: str, stack_id: str) -> None:
    """Make the group of the function with the tags of the stack that it works for."""
    described = clients("cloudformation").describe_stacks(StackName=stack_id)["Stacks"][0]
    tags = {
        each["Key"]: each["Value"]
        for each in described.get("Tags", ())
        if not each["Key"].startswith("aws:")
    }
    _make(clients, name, tags, _DAYS_OF_THE_FUNCTION)


def _groups_of(stack: Mapping[str, Any]) -> list[str]:
    parameters = {
        each["ParameterKey"]: each["ParameterValue"] for each in stack.get("Parameters", ())
    }
    cleanup = f"/aws/lambda/pcluster-CleanupResources-{stack['StackId'].split('/')[2]}"
    return [name for name in (parameters.get(PARAMETER), cleanup) if name]


def _make(clients: Clients, name: str, tags: Mapping[str, str], days: int) -> None:
    if _exists(clients, name):
        return
    logs = clients("logs")
    logs.create_log_group(logGroupName=name, tags=dict(tags))
    logs.put_retention_policy(logGroupName=name, retentionInDays=days)


def _exists(clients: Clients, name: str) -> bool:
    found = clients("logs").describe_log_groups(logGroupNamePrefix=name)["logGroups"]
    return any(each["logGroupName"] == name for each in found)

"""Read what a ParallelCluster is today: its configuration, its key, and whether its nodes run.

Sources:
    https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html and
    API_GetTemplate.html beside it.
    https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/models/compute_fleet_status_manager.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from botocore.exceptions import ClientError

from components.account.facts import KeyPairFacts
from components.account.lookup import AccountReader
from components.parallelcluster.cluster_template import CLUSTER

# With these a cluster stands behind the stack. A creation that failed has none, and what it asked
# for binds nobody.
_DEPLOYED = frozenset(
    {
        "CREATE_COMPLETE",
        "UPDATE_IN_PROGRESS",
        "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
        "UPDATE_COMPLETE",
        "UPDATE_FAILED",
        "UPDATE_ROLLBACK_IN_PROGRESS",
        "UPDATE_ROLLBACK_FAILED",
        "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
        "UPDATE_ROLLBACK_COMPLETE",
    }
)
# ParallelCluster's own table of a cluster, and the item in it.
_TABLE = "parallelcluster-slurm-{}"
_FLEET = "COMPUTE_FLEET"


def look_up_deployed(reader: AccountReader, stack_name: str) -> Mapping[str, Any] | None:
    """Return the configuration of the cluster that a CloudFormation stack of ours has made.

    Args:
        reader: The account.
        stack_name: The stack around the cluster, not the cluster's own.

    Returns:
        None where there is no such stack, where its creation failed, or where it may not be read.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    stacks = _asked(reader, "DescribeStacks", StackName=stack_name)
    if not stacks or stacks["Stacks"][0]["StackStatus"] not in _DEPLOYED:
        return None
    answer = _asked(reader, "GetTemplate", StackName=stack_name)
    # The stack's template is JSON, which boto3 reads.
    template = (answer or {}).get("TemplateBody")
    if not isinstance(template, Mapping):
        return None
    resources = cast("Mapping[str, Any]", template).get("Resources", {})
    return resources.get(CLUSTER, {}).get("Properties", {}).get("ClusterConfiguration")


def look_up_deployed_key(reader: AccountReader, deployed: Mapping[str, Any]) -> KeyPairFacts | None:
    """Return the key pair with which the head node of a cluster was made.

    Returns:
        None where it has none, where that was deleted, or where it may not be read.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    key_name = deployed.get("HeadNode", {}).get("Ssh", {}).get("KeyName")
    if not key_name:
        return None
    answer = reader.ask(
        "ec2:DescribeKeyPairs",
        reader.client("ec2").describe_key_pairs,
        KeyNames=[key_name],
        IncludePublicKey=True,
    )
    for found in (answer or {}).get("KeyPairs", []):
        return KeyPairFacts(
            name=key_name,
            public_key=found.get("PublicKey", ""),
            tags={tag["Key"]: tag["Value"] for tag in found.get("Tags", [])},
        )
    return None


def look_up_fleet_stopped(reader: AccountReader, cluster_name: str) -> bool:
    """Return whether somebody has stopped the compute fleet, as ParallelCluster itself asks it.

    Where that cannot be read, the fleet counts as running.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    answer = reader.ask(
        "dynamodb:GetItem",
        reader.client("dynamodb").get_item,
        TableName=_TABLE.format(cluster_name),
        Key={"Id": {"S": _FLEET}},
        ConsistentRead=True,
    )
    data = ((answer or {}).get("Item") or {}).get("Data") or {}
    return data.get("M", {}).get("status", {}).get("S") == "STOPPED"


_CALLS = {"DescribeStacks": "describe_stacks", "GetTemplate": "get_template"}


def _asked(reader: AccountReader, call: str, **arguments: Any) -> Any:
    do = getattr(reader.client("cloudformation"), _CALLS[call])
    return reader.ask(f"cloudformation:{call}", _none_without_stack(do), **arguments)


def _none_without_stack(do: Callable[..., Any]) -> Callable[..., Any]:
    """Return the call, which answers None for a stack that does not exist.

    CloudFormation has no error of its own for that: it is one of many ValidationErrors.
    """

    def call(**arguments: Any) -> Any:
        try:
            return do(**arguments)
        except ClientError as error:
            said = error.response.get("Error", {})
            if said.get("Code") == "ValidationError" and "not exist" in said.get("Message", ""):
                return None
            raise

    return call

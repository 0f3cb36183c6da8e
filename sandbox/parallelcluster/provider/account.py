"""The sandbox's account as the provider's function sees it: log groups, and records of clusters."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from trainyard.sandbox.access import Endpoint
from trainyard.sandbox.parallelcluster.provider.model import Cluster

# The sandbox's account as the provider's function sees it.
#
# Region, endpoint and credentials are in the function's environment, as on AWS. Transient errors
# (throttling, 5xx, lost connections) are retried, as ParallelCluster's function and
# CloudFormation's handlers do, which treat these errors as retriable.
# https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-test-contract-errors.html


Clients = Callable[[str], Any]
"""Returns the boto3 client of a service."""
ATTEMPTS = 6
"""Attempts of one call, within half a minute; CloudFormation repeats calls for longer."""


@cache
def client(service: str) -> Any:
    """Return the boto3 client of a service."""
    retries: Any = {"mode": "standard", "total_max_attempts": ATTEMPTS}
    return boto3.client(service, config=Config(retries=retries))


def of_this_function() -> Endpoint:
    """Return the account's endpoint, from the environment."""
    return Endpoint(os.environ["AWS_ENDPOINT_URL"], os.environ["AWS_ACCESS_KEY_ID"])


DIRECTORY_VARIABLE = "TRAINYARD_CLUSTERS"
"""Environment variable of the function that names the directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One cluster that exists."""

    name: str
    configuration: Mapping[str, Any]
    """As accepted by ParallelCluster, including the tags of the stack."""
    stack_id: str
    """ARN of the cluster's own CloudFormation stack."""
    created: str
    """Time of creation, in ISO 8601."""
    updated: str
    status: str
    """`CREATE_COMPLETE`, `UPDATE_IN_PROGRESS`, `UPDATE_COMPLETE` or `DELETE_IN_PROGRESS`."""

    @property
    def is_settled(self) -> bool:
        """Whether it is neither changed nor deleted now."""
        return self.status.endswith("_COMPLETE")


class Records:
    """The clusters of a sandbox.

    Args:
        directory: Directory of the files; created with the first file.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @classmethod
    def of_this_function(cls) -> Records:
        """Return the records of the sandbox whose function this process runs."""
        return cls(Path(os.environ[DIRECTORY_VARIABLE]))

    def find(self, name: str) -> Record | None:
        """Return a cluster, or None."""
        try:
            return Record(**json.loads(self._path(name).read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None

    def every(self) -> list[Record]:
        """Return all clusters."""
        names = sorted(path.stem for path in self._directory.glob("*.json"))
        return [record for name in names if (record := self.find(name)) is not None]

    def write(self, record: Record) -> None:
        """Store the current record of a cluster."""
        self._directory.mkdir(parents=True, exist_ok=True)
        partial = self._path(record.name).with_suffix(".partial")
        partial.write_text(json.dumps(asdict(record)), encoding="utf-8")
        partial.replace(self._path(record.name))

    def remove(self, name: str) -> None:
        """Delete the record of a cluster; does nothing if there is none."""
        self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._directory / f"{name}.json"


# The log groups of a cluster, and that of the function which makes it.
#
# They have the tags of their stacks, as CloudFormation gives them. Those of a cluster stay after
# its deletion, unless `DeletionPolicy` of its logs is `Delete`; that of the function always stays.
#
# Source:
#     https://github.com/aws/aws-parallelcluster/blob/451cc5320d5d/cli/src/pcluster/templates/cluster_stack.py
#     (`_add_cluster_log_group`), `cdk_builder_utils.py` there (`PclusterLambdaConstruct`,
#     `get_log_group_deletion_policy`), and cloudformation/custom_resource/cluster.yaml in the
#     same repository (`PclusterCfnFunctionLogGroup`: `Retain`, 90 days)
#     https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-console-add-tags.html


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

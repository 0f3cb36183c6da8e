"""The clusters of the account: created, changed, described and deleted as ParallelCluster does."""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
import string
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

import yaml
from botocore.exceptions import BotoCoreError, ClientError

from trainyard.sandbox.faults.names import NEVER_JOINS, is_named
from trainyard.sandbox.parallelcluster.provider import account, machines, model, storage
from trainyard.sandbox.parallelcluster.provider.account import (
    Clients,
    Record,
    Records,
    of_this_function,
)
from trainyard.sandbox.parallelcluster.provider.machines import Groups, head_node
from trainyard.sandbox.parallelcluster.provider.model import Cluster, ComputeNodes
from trainyard.sandbox.parallelcluster.provider.reading import NotInTheSandboxError, read_cluster
from trainyard.sandbox.parallelcluster.provider.requests import (
    RefusedError,
    Request,
    bad_request,
    invalid,
    not_updatable,
)
from trainyard.sandbox.parallelcluster.validation import update_check, validate

# The configuration of a cluster in S3, where ParallelCluster keeps it.
#
# Source:
# https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/models/s3_bucket.py, and
# `PCLUSTER_S3_ARTIFACTS_DICT` of `pcluster/constants.py`


BUCKET, DIRECTORY, VERSION = "ResourcesS3Bucket", "ArtifactS3RootDirectory", "ConfigVersion"
"""Parameters of the stack of a cluster: `cluster_resources.py`."""

_RANDOM = string.ascii_lowercase + string.digits


def new_directory(cluster: str) -> str:
    """Return the directory for a new cluster: `_generate_artifact_dir` of `cluster.py`."""
    version = metadata.version("aws-parallelcluster")
    suffix = "".join(secrets.choice(_RANDOM) for _ in range(16))
    return f"parallelcluster/{version}/clusters/{cluster}-{suffix}"


def put_configuration(
    clients: Clients, directory: str, configuration: Mapping[str, Any]
) -> dict[str, str]:
    """Write a configuration, and return the parameters that say where it is.

    ParallelCluster creates its bucket with the first cluster of a region and never deletes it; the
    account of the sandbox has it.
    """
    bucket = str(configuration.get("CustomS3Bucket") or _own_bucket(clients))
    written = clients("s3").put_object(
        Bucket=bucket,
        Key=f"{directory}/configs/cluster-config.yaml",
        Body=yaml.safe_dump(dict(configuration), sort_keys=False).encode(),
    )
    return {BUCKET: bucket, DIRECTORY: directory, VERSION: written["VersionId"]}


def remove_configuration(clients: Clients, parameters: Mapping[str, str]) -> None:
    """Remove every version of a configuration; without parameters, there is none."""
    if not parameters.keys() >= {BUCKET, DIRECTORY}:
        return
    s3, bucket = clients("s3"), parameters[BUCKET]
    found = s3.list_object_versions(Bucket=bucket, Prefix=f"{parameters[DIRECTORY]}/")
    for each in (*found.get("Versions", ()), *found.get("DeleteMarkers", ())):
        s3.delete_object(Bucket=bucket, Key=each["Key"], VersionId=each["VersionId"])


def _own_bucket(clients: Clients) -> str:
    account = clients("sts").get_caller_identity()["Account"]
    digest = hashlib.sha256(f"{account}{clients('s3').meta.region_name}".encode()).hexdigest()
    return f"parallelcluster-{digest[:16]}-v1-do-not-delete"


# The CloudFormation stack that ParallelCluster creates for each cluster, with the same name.
#
# Here it contains only a wait condition handle, because the provider itself creates the parts of
# the cluster. It reserves the name: no other stack can have it, and no cluster can have the name of
# a stack.


_TEMPLATE = {
    "Description": "Sandbox stand-in for the stack of a cluster of AWS ParallelCluster",
    "Resources": {"Handle": {"Type": "AWS::CloudFormation::WaitConditionHandle"}},
}
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


def make_stack(clients: Clients, cluster: Cluster, configuration: Mapping[str, Any]) -> str:
    """Create the stack of a cluster; return its ARN."""
    directory = new_directory(cluster.name)
    parameters = {
        **({account.PARAMETER: account.name_of(cluster.name)} if cluster.has_log_group else {}),
        **put_configuration(clients, directory, configuration),
    }
    made = clients("cloudformation").create_stack(
        StackName=cluster.name,
        TemplateBody=_template(parameters),
        Tags=model.tag_list(
            {**cluster.tags, model.VERSION: metadata.version("aws-parallelcluster")}
        ),
    )
    _wait(clients, cluster.name)
    return made["StackId"]


def change_configuration(clients: Clients, name: str, configuration: Mapping[str, Any]) -> None:
    """Write the configuration of a changed cluster."""
    known = _parameters(find_stack(clients, name) or {})
    directory = known.get(DIRECTORY) or new_directory(name)
    changed = {**known, **put_configuration(clients, directory, configuration)}
    clients("cloudformation").update_stack(StackName=name, TemplateBody=_template(changed))
    _wait(clients, name)


def _template(parameters: Mapping[str, str]) -> str:
    """Return the template, whose parameters have defaults; source: `cluster_stack.py`."""
    declared = {name: {"Type": "String", "Default": value} for name, value in parameters.items()}
    return json.dumps({**_TEMPLATE, "Parameters": declared})


def _parameters(stack: Mapping[str, Any]) -> dict[str, str]:
    return {each["ParameterKey"]: each["ParameterValue"] for each in stack.get("Parameters", ())}


def remove_stack(clients: Clients, name: str) -> None:
    """Remove the stack of a cluster and its configuration, if it exists."""
    remove_configuration(clients, _parameters(find_stack(clients, name) or {}))
    clients("cloudformation").delete_stack(StackName=name)
    _wait(clients, name)


def _wait(clients: Clients, name: str) -> None:
    deadline = time.monotonic() + _TIMEOUT_SECONDS
    while "IN_PROGRESS" in ((find_stack(clients, name) or {}).get("StackStatus", "")):
        if time.monotonic() > deadline:
            raise TimeoutError(f"stack {name} does not settle")
        time.sleep(_POLL_SECONDS)


NEVER_REGISTERED = (
    "Cluster has been set to PROTECTED mode due to failures detected in static node provisioning."
)
"""https://github.com/aws/aws-parallelcluster-cookbook, `write_chef_error_handler.rb`"""


def never_registers(queue: str, name: str) -> bool:
    """Return whether nodes of a compute resource run and never register with Slurm."""
    # The function is a separate process; the schedule is in force in the account's process.
    entries: list[dict[str, Any]] = of_this_function().ask("GET", "faults")
    return any(
        is_named(each["node_group"], queue, name)
        for each in entries
        if each["happens"] == NEVER_JOINS
    )


class BuildError(Exception):
    """A part of a cluster could not be created; the message names ParallelCluster's failure code.

    The codes: https://github.com/aws/aws-parallelcluster/blob/v3.16.1/cli/src/pcluster/models/cluster_resources.py
    """


def build(clients: Clients, cluster: Cluster) -> None:
    """Create all parts of a cluster.

    Raises:
        BuildError: A part cannot be created; the parts created before still exist.
    """
    try:
        groups = machines.make_groups(clients, cluster)
        for each in cluster.storage:
            storage.make_storage(clients, cluster, each, groups)
        machines.launch_head_node(clients, cluster, groups)
    except (ClientError, BotoCoreError, TimeoutError) as error:
        raise _failure("ClusterCreationFailure", "", error) from error
    for nodes in cluster.compute:
        _make_nodes(clients, cluster, nodes, groups)


def change(clients: Clients, old: Cluster, new: Cluster) -> None:
    """Update a cluster: nodes and storage are added and removed, the head node is kept.

    A change of a compute resource replaces all nodes of its queue, as the queue update strategies
    `DRAIN` and `TERMINATE` do; here, jobs do not delay it.
    https://github.com/aws/aws-parallelcluster-cookbook, `update_head_node.rb`

    Raises:
        BuildError: A part cannot be created; the update is incomplete.
    """
    groups = machines.find_groups(clients, new.name)
    _change_storage(clients, old, new, groups)
    before, after = _by_key(old), _by_key(new)
    replaced = {
        nodes.queue
        for key, nodes in before.items()
        if key in after and not _same_nodes(nodes, after[key])
    }
    for key, nodes in before.items():
        if key not in after or nodes.queue in replaced:
            machines.remove_compute(clients, old.name, nodes)
    for nodes in after.values():
        _make_nodes(clients, new, nodes, groups)


def remove(clients: Clients, name: str, *, retained: Collection[str]) -> None:
    """Remove all existing parts of a cluster, by its tags.

    Args:
        clients: The account.
        name: Name of the cluster.
        retained: Names of the shared storage that is kept.
    """
    machines.remove_instances(clients, name)
    kept = storage.remove_storage(clients, name, retained=retained)
    machines.remove_groups(clients, name, keep=sorted(kept))


def _make_nodes(clients: Clients, cluster: Cluster, nodes: ComputeNodes, groups: Groups) -> None:
    """Adjust the number of static nodes."""
    there = machines.compute_instances(clients, cluster.name, nodes)
    surplus = [each["InstanceId"] for each in there[nodes.static_count :]]
    missing = max(0, nodes.static_count - len(there))
    try:
        machines.make_placement_group(clients, cluster, nodes)
        machines.terminate(clients, surplus)
        machines.launch_compute(clients, cluster, nodes, groups, missing)
    except (ClientError, BotoCoreError) as error:
        if _waits_for_its_block(nodes, error):
            return
        raise _failure("StaticNodeBootstrapFailure", _where(nodes), error) from error
    if nodes.static_count and never_registers(nodes.queue, nodes.name):
        raise BuildError(f"{_where(nodes)}{NEVER_REGISTERED} (StaticNodeBootstrapFailure)")


def _waits_for_its_block(nodes: ComputeNodes, error: Exception) -> bool:
    """Return whether nodes cannot launch because their Capacity Block is not active.

    The cluster is created without them, and they launch when it is (`trainyard.sandbox.slurm`).
    https://docs.aws.amazon.com/parallelcluster/latest/ug/launch-instances-capacity-blocks.html
    """
    return (
        nodes.launch.get("InstanceMarketOptions") == {"MarketType": "capacity-block"}
        and isinstance(error, ClientError)
        and error.response["Error"]["Code"] == "InvalidCapacityReservationState"
    )


def _where(nodes: ComputeNodes) -> str:
    return f"queue {nodes.queue}, compute resource {nodes.name}: "


def _change_storage(clients: Clients, old: Cluster, new: Cluster, groups: Groups) -> None:
    before = {each.name: each for each in old.storage}
    after = {each.name: each for each in new.storage}
    there = {each.name for each in storage.storage_of(clients, new.name)}
    staying = {*after, *(name for name, each in before.items() if each.is_retained)}
    storage.remove_storage(clients, new.name, retained=staying)
    try:
        for name in after.keys() - there:
            storage.make_storage(clients, new, after[name], groups)
    except (ClientError, BotoCoreError, TimeoutError) as error:
        raise _failure("ClusterUpdateFailure", "", error) from error


def _failure(code: str, where: str, error: Exception) -> BuildError:
    """Return the failure with its codes last: CloudFormation gets the end of a long reason."""
    if not isinstance(error, ClientError):
        return BuildError(f"{where}{error} ({code})")
    said = error.response["Error"]
    return BuildError(f"{where}{said['Message']} ({code}, {error.operation_name}: {said['Code']})")


def _by_key(cluster: Cluster) -> Mapping[tuple[str, str], ComputeNodes]:
    return {(nodes.queue, nodes.name): nodes for nodes in cluster.compute}


def _same_nodes(one: ComputeNodes, other: ComputeNodes) -> bool:
    return replace(one, static_count=0) == replace(other, static_count=0)


LOG = logging.getLogger("trainyard.sandbox.parallelcluster")

Messages = list[dict[str, str]]


class Clusters:
    """All clusters of the account.

    Args:
        clients: The account.
        records: The records of the clusters.
        log_group: Log group of the function, which the message of a failed cluster names.
    """

    def __init__(self, clients: Clients, records: Records, *, log_group: str) -> None:
        self._clients = clients
        self._records = records
        self._log_group = log_group

    def create(self, request: Request) -> Messages:
        """Create a cluster; return the messages of the validators.

        Raises:
            RefusedError: It is not created; only retained parts remain.
        """
        name = request.name
        if self._records.find(name) or find_stack(self._clients, name):
            raise bad_request(f"Cluster {name} already exists.")
        messages = _judged(request)
        cluster = _read(name, request.configuration)
        stack_id = make_stack(self._clients, cluster, request.configuration)
        stack = find_stack(self._clients, name) or {}
        account.make_groups(self._clients, cluster, stack)
        try:
            build(self._clients, cluster)
        except BuildError as error:
            LOG.warning("%s is not created: %s", name, error)
            self._remove(cluster)
            raise self._failed(name, error) from error
        now = _now()
        self._records.write(
            Record(
                name=name,
                configuration=request.configuration,
                stack_id=stack_id,
                created=now,
                updated=now,
                status="CREATE_COMPLETE",
            )
        )
        return messages

    def update(self, request: Request) -> Messages:
        """Change a cluster; return the messages of the validators.

        Raises:
            RefusedError: It is unchanged.
        """
        record = self._records.find(request.name)
        if record is None:
            raise bad_request(f"Cluster {request.name} does not exist.")
        messages = _judged(request)
        check = update_check(record.configuration, request.configuration)
        if not check["allowed"] and not request.is_forced:
            raise not_updatable(check["rows"])
        old = _read(request.name, record.configuration)
        new = _read(request.name, request.configuration)
        self._records.write(replace(record, status="UPDATE_IN_PROGRESS"))
        try:
            change(self._clients, old, new)
        except BuildError as error:
            LOG.warning("%s is not updated: %s", request.name, error)
            change(self._clients, new, old)
            self._records.write(record)
            raise self._failed(request.name, error) from error
        change_configuration(self._clients, request.name, request.configuration)
        self._records.write(
            replace(
                record,
                configuration=request.configuration,
                updated=_now(),
                status="UPDATE_COMPLETE",
            )
        )
        return messages

    def delete(self, name: str) -> None:
        """Delete a cluster, if it exists, except retained resources."""
        record = self._records.find(name)
        if record is None:
            return
        self._records.write(replace(record, status="DELETE_IN_PROGRESS"))
        self._remove(_read(name, record.configuration))
        self._records.remove(name)

    def _remove(self, cluster: Cluster) -> None:
        """Remove the parts of a cluster except retained ones, and its stack."""
        remove(self._clients, cluster.name, retained=_retained(cluster))
        stack = find_stack(self._clients, cluster.name)
        if stack and not cluster.keeps_logs:
            account.remove_groups(self._clients, stack)
        remove_stack(self._clients, cluster.name)

    def describe(self, name: str) -> dict[str, Any]:
        """Return a cluster as `pcluster describe-cluster` does, without configuration and tags.

        Source: https://docs.aws.amazon.com/parallelcluster/latest/ug/pcluster.describe-cluster-v3.html

        Raises:
            KeyError: the cluster does not exist.
        """
        record = self._records.find(name)
        if record is None:
            raise KeyError(name)
        described = {
            "creationTime": record.created,
            "version": metadata.version("aws-parallelcluster"),
            "cloudFormationStackStatus": record.status,
            "clusterName": name,
            "computeFleetStatus": "RUNNING",
            "cloudformationStackArn": record.stack_id,
            "lastUpdatedTime": record.updated,
            "region": record.stack_id.split(":")[3],
            "clusterStatus": record.status,
        }
        head = head_node(self._clients, name)
        return {**described, "headNode": _described_head(head)} if head else described

    def _failed(self, name: str, error: BuildError) -> RefusedError:
        return RefusedError(f"{name}: {error} (LogGroup: {self._log_group})")


def _judged(request: Request) -> Messages:
    verdict = validate(
        request.configuration, cluster_name=request.name, suppress=request.suppressed
    )
    messages: Messages = verdict["messages"]
    if any(each["level"] in request.refused_levels for each in messages):
        raise invalid(messages)
    if request.is_dry_run:
        raise RefusedError('{"message": "Request would have succeeded, but DryRun flag is set."}')
    return messages


def _read(name: str, configuration: Mapping[str, Any]) -> Cluster:
    try:
        return read_cluster(name, configuration)
    except NotInTheSandboxError as error:
        raise RefusedError(str(error)) from error


def _retained(cluster: Cluster) -> set[str]:
    return {each.name for each in cluster.storage if each.is_retained}


def _described_head(instance: Mapping[str, Any]) -> dict[str, str]:
    described = {
        "launchTime": _iso(instance["LaunchTime"]),
        "instanceId": instance["InstanceId"],
        "publicIpAddress": instance.get("PublicIpAddress"),
        "instanceType": instance["InstanceType"],
        "state": instance["State"]["Name"],
        "privateIpAddress": instance["PrivateIpAddress"],
    }
    return {name: value for name, value in described.items() if value}


def _now() -> str:
    return _iso(datetime.now(UTC))


def _iso(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"

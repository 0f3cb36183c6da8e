"""The clusters of the account: created, changed, described and deleted as ParallelCluster does."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from trainyard.sandbox.parallelcluster.provider import building, log_groups, own_stack
from trainyard.sandbox.parallelcluster.provider.account import Clients
from trainyard.sandbox.parallelcluster.provider.building import BuildError
from trainyard.sandbox.parallelcluster.provider.launch import head_node
from trainyard.sandbox.parallelcluster.provider.model import Cluster
from trainyard.sandbox.parallelcluster.provider.reading import NotInTheSandboxError, read_cluster
from trainyard.sandbox.parallelcluster.provider.records import Record, Records
from trainyard.sandbox.parallelcluster.provider.refusals import (
    RefusedError,
    bad_request,
    invalid,
    not_updatable,
)
from trainyard.sandbox.parallelcluster.provider.requests import Request
from trainyard.sandbox.parallelcluster.validation import update_check, validate

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
        if self._records.find(name) or own_stack.find_stack(self._clients, name):
            raise bad_request(f"Cluster {name} already exists.")
        messages = _judged(request)
        cluster = _read(name, request.configuration)
        stack_id = own_stack.make_stack(self._clients, cluster, request.configuration)
        stack = own_stack.find_stack(self._clients, name) or {}
        log_groups.make_groups(self._clients, cluster, stack)
        try:
            building.build(self._clients, cluster)
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
            building.change(self._clients, old, new)
        except BuildError as error:
            LOG.warning("%s is not updated: %s", request.name, error)
            building.change(self._clients, new, old)
            self._records.write(record)
            raise self._failed(request.name, error) from error
        own_stack.change_configuration(self._clients, request.name, request.configuration)
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
        building.remove(self._clients, cluster.name, retained=_retained(cluster))
        stack = own_stack.find_stack(self._clients, cluster.name)
        if stack and not cluster.keeps_logs:
            log_groups.remove_groups(self._clients, stack)
        own_stack.remove_stack(self._clients, cluster.name)

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

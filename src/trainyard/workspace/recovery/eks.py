"""Control planes, node groups, add-ons and access entries.

Source of the states: https://docs.aws.amazon.com/eks/latest/APIReference/ (`Cluster`, `Nodegroup`,
`Addon`: `status`). Source of the ids: https://www.pulumi.com/registry/packages/aws/api-docs/eks/
(section "Import" of each type).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.workspace.recovery.account import Account, Found, progress
from trainyard.workspace.recovery.operations import PendingCreate
from trainyard.workspace.recovery.ways import Way, by_name

_MAKING = {"CREATING", "PENDING", "UPDATING"}


def _cluster(account: Account, create: PendingCreate) -> list[Found]:
    name = create.inputs["name"]
    cluster = account.one("eks", "describe_cluster", "cluster", name=name)
    return _found(cluster, name, failed="FAILED")


def _node_group(account: Account, create: PendingCreate) -> list[Found]:
    cluster, name = create.inputs["clusterName"], create.inputs["nodeGroupName"]
    group = account.one(
        "eks", "describe_nodegroup", "nodegroup", clusterName=cluster, nodegroupName=name
    )
    return _found(group, f"{cluster}:{name}", failed="CREATE_FAILED")


def _addon(account: Account, create: PendingCreate) -> list[Found]:
    cluster, name = create.inputs["clusterName"], create.inputs["addonName"]
    addon = account.one("eks", "describe_addon", "addon", clusterName=cluster, addonName=name)
    return _found(addon, f"{cluster}:{name}", failed="CREATE_FAILED")


def _found(described: Mapping[str, Any] | None, identifier: str, *, failed: str) -> list[Found]:
    if not described or described["status"] == "DELETING":
        return []
    state = progress(described["status"], making=_MAKING, failed={failed})
    return [Found(identifier, tags=described.get("tags") or {}, **state)]


def _access_entry(account: Account, create: PendingCreate) -> list[Found]:
    cluster, principal = create.inputs["clusterName"], create.inputs["principalArn"]
    entry = account.one(
        "eks", "describe_access_entry", "accessEntry", clusterName=cluster, principalArn=principal
    )
    return [Found(f"{cluster}:{principal}", tags=entry.get("tags") or {})] if entry else []


WAYS: dict[str, Way] = {
    "aws:eks/cluster:Cluster": by_name("eks:DescribeCluster", _cluster, fixed_name=True),
    "aws:eks/nodeGroup:NodeGroup": by_name("eks:DescribeNodegroup", _node_group),
    "aws:eks/addon:Addon": by_name("eks:DescribeAddon", _addon, fixed_name=True),
    "aws:eks/accessEntry:AccessEntry": by_name("eks:DescribeAccessEntry", _access_entry),
}

"""Control planes, node groups, add-ons and access entries.

Source of the states: https://docs.aws.amazon.com/eks/latest/APIReference/ (`Cluster`, `Nodegroup`,
`Addon`: `status`). Source of the ids: https://www.pulumi.com/registry/packages/aws/api-docs/eks/
(section "Import" of each type).
"""

from __future__ import annotations

from tools.workspace.recovery.account import Account, Found, progress
from tools.workspace.recovery.operations import PendingCreate
from tools.workspace.recovery.ways import Way, by_name

_MAKING = {"CREATING", "PENDING", "UPDATING"}


def _cluster(account: Account, create: PendingCreate) -> list[Found]:
    name = create.inputs["name"]
    cluster = account.one("eks", "describe_cluster", "cluster", name=name)
    if not cluster or cluster["status"] == "DELETING":
        return []
    state = progress(cluster["status"], making=_MAKING, failed={"FAILED"})
    return [Found(name, tags=cluster.get("tags") or {}, **state)]


def _node_group(account: Account, create: PendingCreate) -> list[Found]:
    cluster, name = create.inputs["clusterName"], create.inputs["nodeGroupName"]
    group = account.one(
        "eks", "describe_nodegroup", "nodegroup", clusterName=cluster, nodegroupName=name
    )
    if not group or group["status"] == "DELETING":
        return []
    state = progress(group["status"], making=_MAKING, failed={"CREATE_FAILED"})
    return [Found(f"{cluster}:{name}", tags=group.get("tags") or {}, **state)]


def _addon(account: Account, create: PendingCreate) -> list[Found]:
    cluster, name = create.inputs["clusterName"], create.inputs["addonName"]
    addon = account.one("eks", "describe_addon", "addon", clusterName=cluster, addonName=name)
    if not addon or addon["status"] == "DELETING":
        return []
    state = progress(addon["status"], making=_MAKING, failed={"CREATE_FAILED"})
    return [Found(f"{cluster}:{name}", tags=addon.get("tags") or {}, **state)]


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

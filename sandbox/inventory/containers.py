"""EKS and log groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.sandbox.inventory.clients import Clients
from trainyard.sandbox.inventory.item import Item


def items(clients: Clients) -> Iterator[Item]:
    """Yield the account's clusters with related objects, and the log groups."""
    for name in clients.every("eks", "list_clusters", "clusters"):
        yield from _cluster(clients, name)
    for group in clients.every("logs", "describe_log_groups", "logGroups"):
        details = {"retention": group.get("retentionInDays")}
        yield Item("logs:log-group", group["logGroupName"], details)


def _cluster(clients: Clients, name: str) -> Iterator[Item]:
    eks = clients.client("eks")
    cluster = eks.describe_cluster(name=name)["cluster"]
    mode = cluster["accessConfig"]["authenticationMode"]
    details = {
        "version": cluster["version"],
        "mode": mode,
        "subnets": sorted(cluster["resourcesVpcConfig"]["subnetIds"]),
        "tags": _tags(cluster["tags"]),
    }
    yield Item("eks:cluster", name, details)
    for group_name in clients.every("eks", "list_nodegroups", "nodegroups", clusterName=name):
        group = eks.describe_nodegroup(clusterName=name, nodegroupName=group_name)["nodegroup"]
        details = {
            "minimum": group["scalingConfig"]["minSize"],
            "desired": group["scalingConfig"]["desiredSize"],
            "maximum": group["scalingConfig"]["maxSize"],
            "capacity": group["capacityType"],
            "tags": _tags(group["tags"]),
        }
        yield Item("eks:node-group", f"{name}/{group_name}", details)
    for addon_name in clients.every("eks", "list_addons", "addons", clusterName=name):
        addon = eks.describe_addon(clusterName=name, addonName=addon_name)["addon"]
        yield Item("eks:addon", f"{name}/{addon_name}", {"version": addon["addonVersion"]})
    for association in clients.every(
        "eks", "list_pod_identity_associations", "associations", clusterName=name
    ):
        account = f"{association['namespace']}/{association['serviceAccount']}"
        details = {"owner": association.get("ownerArn")}
        yield Item("eks:pod-identity-association", f"{name}/{account}", details)
    if mode == "CONFIG_MAP" or cluster["status"] != "ACTIVE":
        return
    for principal in clients.every("eks", "list_access_entries", "accessEntries", clusterName=name):
        entry = eks.describe_access_entry(clusterName=name, principalArn=principal)["accessEntry"]
        details = {"type": entry["type"], "groups": sorted(entry["kubernetesGroups"])}
        yield Item("eks:access-entry", f"{name}/{principal}", details)


def _tags(described: dict[str, Any]) -> list[str]:
    return sorted(f"{key}:{value}" for key, value in described.items())

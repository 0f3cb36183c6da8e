"""Read an existing EKS cluster: versions, node groups and authorization.

Sources: https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeCluster.html and the pages
of the other calls.
"""

from __future__ import annotations

from typing import Any

from components.account.facts import ClusterFacts
from components.account.lookup import AccountReader
from components.eks.cluster_access import read_aws_auth

_ANSWERING = {"ACTIVE", "UPDATING"}
"""Statuses in which EKS lists the access entries of a cluster."""


def look_up_cluster(
    reader: AccountReader, name: str, *, with_aws_auth: bool = True
) -> ClusterFacts | None:
    """Return the cluster, or None if it does not exist or cannot be read.

    `with_aws_auth`: whether to read the ConfigMap too, if the mode has one. This calls the
    cluster's API server, which may be unreachable.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    answer = reader.ask("eks:DescribeCluster", reader.eks.describe_cluster, name=name)
    if not answer:
        return None
    cluster = answer["cluster"]
    mode = (cluster.get("accessConfig") or {}).get("authenticationMode") or "CONFIG_MAP"
    groups = _node_groups(reader, name)
    has_entries = mode != "CONFIG_MAP" and cluster["status"] in _ANSWERING
    return ClusterFacts(
        name=name,
        status=cluster["status"],
        kubernetes_version=cluster["version"],
        authentication_mode=mode,
        secrets_key_arn=_secrets_key(cluster),
        access_entries=_access_entries(reader, name) if has_entries else {},
        node_role_arns=frozenset(group["nodeRole"] for group in groups.values()),
        addon_versions=_addon_versions(reader, name),
        node_group_versions={group: found["version"] for group, found in groups.items()},
        node_group_sizes={
            group: found["scalingConfig"]["desiredSize"] for group, found in groups.items()
        },
        aws_auth=read_aws_auth(reader, cluster) if with_aws_auth and mode != "API" else None,
    )


def _secrets_key(cluster: dict[str, Any]) -> str | None:
    for encryption in cluster.get("encryptionConfig") or []:
        if "secrets" in encryption.get("resources", []):
            return encryption.get("provider", {}).get("keyArn")
    return None


def _access_entries(reader: AccountReader, cluster: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for principal in _listed(reader, "ListAccessEntries", "accessEntries", cluster):
        answer = reader.ask(
            "eks:DescribeAccessEntry",
            reader.eks.describe_access_entry,
            clusterName=cluster,
            principalArn=principal,
        )
        found[principal] = answer["accessEntry"]["type"] if answer else ""
    return found


def _addon_versions(reader: AccountReader, cluster: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in _listed(reader, "ListAddons", "addons", cluster):
        answer = reader.ask(
            "eks:DescribeAddon", reader.eks.describe_addon, clusterName=cluster, addonName=name
        )
        if answer:
            found[name] = answer["addon"]["addonVersion"]
    return found


def _node_groups(reader: AccountReader, cluster: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name in _listed(reader, "ListNodegroups", "nodegroups", cluster):
        answer = reader.ask(
            "eks:DescribeNodegroup",
            reader.eks.describe_nodegroup,
            clusterName=cluster,
            nodegroupName=name,
        )
        if answer:
            found[name] = answer["nodegroup"]
    return found


_LIST_CALLS = {
    "ListAccessEntries": "list_access_entries",
    "ListAddons": "list_addons",
    "ListNodegroups": "list_nodegroups",
}


def _listed(reader: AccountReader, call: str, key: str, cluster: str) -> list[str]:
    """Return the items of all pages of a list call."""
    do = getattr(reader.eks, _LIST_CALLS[call])
    pages = reader.pages(f"eks:{call}", do, clusterName=cluster)
    return [name for answer in pages for name in answer[key]]

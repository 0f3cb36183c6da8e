"""Read an existing EKS cluster: versions, node groups and authorization.

Sources: https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeCluster.html and the pages
of the other calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from trainyard.components.account.facts import ClusterFacts
from trainyard.components.account.lookup import AccountReader
from trainyard.components.catalog.versions import minor_number
from trainyard.components.eks.cluster_access import read_aws_auth

DESCRIBE_CLUSTER = "eks:DescribeCluster"
LIST_UPDATES, DESCRIBE_UPDATE = "eks:ListUpdates", "eks:DescribeUpdate"
_ANSWERING = {"ACTIVE", "UPDATING"}
"""Statuses in which EKS lists the access entries of a cluster."""


def look_up_cluster(
    reader: AccountReader,
    name: str,
    *,
    wanted_version: str = "",
    with_aws_auth: bool = True,
    aws_auth_of: Callable[..., Mapping[str, str] | None] = read_aws_auth,
) -> ClusterFacts | None:
    """Return the cluster, or None if it does not exist or cannot be read.

    Args:
        reader: The account and region.
        name: Name of the cluster.
        wanted_version: Kubernetes version of the stack. If it is older than that of the cluster,
            the time of the upgrade is read too.
        with_aws_auth: Whether to read the ConfigMap too, if the mode has one. This calls the
            cluster's API server, which may be unreachable.
        aws_auth_of: Reads the ConfigMap of a cluster, as `DescribeCluster` answers it.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    answer = reader.ask(DESCRIBE_CLUSTER, reader.eks.describe_cluster, name=name)
    if not answer:
        return None
    cluster = answer["cluster"]
    mode = (cluster.get("accessConfig") or {}).get("authenticationMode") or "CONFIG_MAP"
    groups = _node_groups(reader, name)
    version = cluster["version"]
    goes_back = bool(wanted_version) and minor_number(wanted_version) < minor_number(version)
    has_entries = mode != "CONFIG_MAP" and cluster["status"] in _ANSWERING
    return ClusterFacts(
        name=name,
        status=cluster["status"],
        kubernetes_version=version,
        upgraded_at=_upgraded_at(reader, name, version) if goes_back else None,
        support_type=(cluster.get("upgradePolicy") or {}).get("supportType") or "EXTENDED",
        authentication_mode=mode,
        secrets_key_arn=_secrets_key(cluster),
        access_entries=_access_entries(reader, name) if has_entries else {},
        node_role_arns=frozenset(
            group["nodeRole"] for group in groups.values() if "nodeRole" in group
        ),
        addon_versions=_addon_versions(reader, name),
        node_group_versions=_versions(reader, groups),
        node_group_sizes={
            group: (found.get("scalingConfig") or {}).get("desiredSize", 0)
            for group, found in groups.items()
        },
        aws_auth=aws_auth_of(reader, cluster) if with_aws_auth and mode != "API" else None,
    )


def _upgraded_at(reader: AccountReader, cluster: str, version: str) -> datetime | None:
    """Return when the last upgrade to a version began, or None.

    An update has no time at which it completed.
    https://docs.aws.amazon.com/eks/latest/APIReference/API_Update.html
    """
    times: list[datetime] = []
    for update_id in _listed(reader, "ListUpdates", "updateIds", cluster):
        answer = reader.ask(
            DESCRIBE_UPDATE, reader.eks.describe_update, name=cluster, updateId=update_id
        )
        update = (answer or {}).get("update") or {}
        to = {each["value"] for each in update.get("params") or [] if each["type"] == "Version"}
        upgraded = update.get("type") == "VersionUpdate" and update.get("status") == "Successful"
        if upgraded and version in to:
            times.append(update["createdAt"])
    return max(times, default=None)


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


def _versions(reader: AccountReader, groups: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return the Kubernetes versions of node groups; leave out those that show none.

    EKS shows no version of a group whose launch template has an AMI of its own:
    eksctl-io/eksctl, pull request 3960. A group of another owner can be one.
    """
    for name, found in groups.items():
        if "version" not in found:
            reader.leave_out(
                f"version of node group {name}",
                "EKS shows none, as of a group with an AMI of its own; before an upgrade of the "
                "cluster, its nodes must have the version of the cluster",
            )
    return {name: found["version"] for name, found in groups.items() if "version" in found}


_LIST_CALLS = {
    "ListAccessEntries": "list_access_entries",
    "ListAddons": "list_addons",
    "ListNodegroups": "list_nodegroups",
    "ListUpdates": "list_updates",
}
_NAMED_NAME = {"ListUpdates"}
"""Calls that take the cluster as `name`; the others, as `clusterName`."""


def _listed(reader: AccountReader, call: str, key: str, cluster: str) -> list[str]:
    """Return the items of all pages of a list call."""
    do = getattr(reader.eks, _LIST_CALLS[call])
    key_of_name = "name" if call in _NAMED_NAME else "clusterName"
    pages = reader.pages(f"eks:{call}", do, **{key_of_name: cluster})
    return [name for answer in pages for name in answer[key]]

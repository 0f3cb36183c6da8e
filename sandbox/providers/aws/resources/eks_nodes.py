"""EKS managed node groups and access entries.

Source: https://www.pulumi.com/registry/packages/aws/api-docs/eks/nodegroup/
"""

from __future__ import annotations

from typing import Any

from sandbox.providers.aws.account import Account
from sandbox.providers.aws.resource import ResourceType, Values
from sandbox.providers.aws.resources.eks_cluster import retag, wait

OPTIONAL = (
    "amiType",
    "capacityType",
    "diskSize",
    "instanceTypes",
    "labels",
    "nodeRepairConfig",
    "releaseVersion",
    "tags",
    "updateConfig",
    "version",
)


def _arguments(inputs: Values) -> dict[str, Any]:
    arguments = {key: inputs[key] for key in OPTIONAL if inputs.get(key)}
    if inputs.get("taints"):
        arguments["taints"] = inputs["taints"]
    if inputs.get("launchTemplate"):
        template = inputs["launchTemplate"]
        arguments["launchTemplate"] = {key: str(value) for key, value in template.items()}
    return arguments


def _create(account: Account, inputs: Values) -> tuple[str, Values]:
    eks, cluster, name = account.client("eks"), inputs["clusterName"], inputs["nodeGroupName"]
    eks.create_nodegroup(
        clusterName=cluster,
        nodegroupName=name,
        nodeRole=inputs["nodeRoleArn"],
        subnets=inputs["subnetIds"],
        scalingConfig=inputs["scalingConfig"],
        **_arguments(inputs),
    )
    return f"{cluster}:{name}", {}


def _settle(account: Account, identifier: str, inputs: Values) -> None:
    cluster, _, name = identifier.partition(":")
    wait(_describe(account, cluster, name), "ACTIVE")


def _describe(account: Account, cluster: str, name: str) -> Any:
    eks = account.client("eks")
    return lambda: eks.describe_nodegroup(clusterName=cluster, nodegroupName=name)["nodegroup"]


def _read(account: Account, identifier: str) -> Values:
    cluster, _, name = identifier.partition(":")
    group = _describe(account, cluster, name)()
    template = group.get("launchTemplate")
    resources = group.get("resources", {})
    return {
        "arn": group["nodegroupArn"],
        "clusterName": cluster,
        "nodeGroupName": name,
        "nodeRoleArn": group["nodeRole"],
        "subnetIds": group["subnets"],
        "scalingConfig": group["scalingConfig"],
        "status": group["status"],
        "amiType": group.get("amiType"),
        "capacityType": group.get("capacityType"),
        "labels": group.get("labels") or None,
        "taints": group.get("taints") or None,
        "releaseVersion": group.get("releaseVersion"),
        "version": group.get("version"),
        "updateConfig": group.get("updateConfig"),
        "nodeRepairConfig": group.get("nodeRepairConfig"),
        "tags": group.get("tags") or None,
        "launchTemplate": {key: template[key] for key in ("id", "version") if key in template}
        if template
        else None,
        "resources": [
            {
                "autoscalingGroups": [
                    {"name": g["name"]} for g in resources.get("autoScalingGroups", [])
                ]
            }
        ],
    }


def _update(account: Account, identifier: str, olds: Values, news: Values) -> None:
    eks = account.client("eks")
    cluster, _, name = identifier.partition(":")
    config: dict[str, Any] = {
        key: news[key]
        for key in ("scalingConfig", "updateConfig", "nodeRepairConfig")
        if key in news and olds.get(key) != news[key]
    }
    if olds.get("labels") != news.get("labels"):
        before, after = olds.get("labels") or {}, news.get("labels") or {}
        config["labels"] = {
            "addOrUpdateLabels": after,
            "removeLabels": sorted(before.keys() - after.keys()),
        }
    if olds.get("taints") != news.get("taints"):
        before, after = olds.get("taints") or [], news.get("taints") or []
        config["taints"] = {
            "addOrUpdateTaints": after,
            "removeTaints": [taint for taint in before if taint not in after],
        }
    # The version first, as the official provider does: a block's nodes must be gone before.
    if any(olds.get(k) != news.get(k) for k in ("launchTemplate", "releaseVersion", "version")):
        arguments = {
            key: value
            for key, value in _arguments(news).items()
            if key in {"launchTemplate", "releaseVersion", "version"}
        }
        eks.update_nodegroup_version(clusterName=cluster, nodegroupName=name, **arguments)
    if config:
        eks.update_nodegroup_config(clusterName=cluster, nodegroupName=name, **config)
    retag(account, _describe(account, cluster, name)()["nodegroupArn"], olds, news)
    wait(_describe(account, cluster, name), "ACTIVE")


def _delete(account: Account, identifier: str, outputs: Values) -> None:
    cluster, _, name = identifier.partition(":")
    account.client("eks").delete_nodegroup(clusterName=cluster, nodegroupName=name)
    wait(_describe(account, cluster, name), None)


def _other_template(olds: Values, news: Values) -> list[str]:
    """Return the template where it is another one; another version of it is an update.

    https://github.com/hashicorp/terraform-provider-aws, internal/service/eks/node_group.go: `id`
    and `name` of `launch_template` force a new group, `version` does not.
    """
    before, after = (each.get("launchTemplate") or {} for each in (olds, news))
    same = all(before.get(key) == after.get(key) for key in ("id", "name"))
    return [] if same else ["launchTemplate"]


NODE_GROUP = ResourceType(
    token="aws:eks/nodeGroup:NodeGroup",
    inputs=frozenset(
        {
            "clusterName",
            "launchTemplate",
            "nodeGroupName",
            "nodeRoleArn",
            "scalingConfig",
            "subnetIds",
            "taints",
            *OPTIONAL,
        }
    ),
    required=frozenset({"clusterName", "nodeRoleArn", "scalingConfig", "subnetIds"}),
    computed=frozenset({"arn", "status", "resources"}),
    replace_on=frozenset(
        {
            "amiType",
            "capacityType",
            "clusterName",
            "diskSize",
            "instanceTypes",
            "nodeGroupName",
            "nodeRoleArn",
            "subnetIds",
        }
    ),
    replace_when=_other_template,
    name_property="nodeGroupName",
    name_limit=63,
    create=_create,
    settle=_settle,
    read=_read,
    update=_update,
    delete=_delete,
)


def _create_entry(account: Account, inputs: Values) -> tuple[str, Values]:
    options = {key: inputs[key] for key in ("type", "tags") if inputs.get(key)}
    if inputs.get("kubernetesGroups"):
        options["kubernetesGroups"] = inputs["kubernetesGroups"]
    if inputs.get("userName"):
        options["username"] = inputs["userName"]
    account.client("eks").create_access_entry(
        clusterName=inputs["clusterName"], principalArn=inputs["principalArn"], **options
    )
    return f"{inputs['clusterName']}:{inputs['principalArn']}", {}


def _read_entry(account: Account, identifier: str) -> Values:
    cluster, _, principal = identifier.partition(":")
    entry = account.client("eks").describe_access_entry(
        clusterName=cluster, principalArn=principal
    )["accessEntry"]
    return {
        "accessEntryArn": entry["accessEntryArn"],
        "clusterName": cluster,
        "principalArn": principal,
        "type": entry["type"],
        "userName": entry.get("username"),
        "kubernetesGroups": entry.get("kubernetesGroups") or None,
        "tags": entry.get("tags") or None,
    }


def _update_entry(account: Account, identifier: str, olds: Values, news: Values) -> None:
    cluster, _, principal = identifier.partition(":")
    if olds.get("kubernetesGroups") != news.get("kubernetesGroups"):
        account.client("eks").update_access_entry(
            clusterName=cluster,
            principalArn=principal,
            kubernetesGroups=news.get("kubernetesGroups") or [],
        )
    retag(account, _read_entry(account, identifier)["accessEntryArn"], olds, news)


def _delete_entry(account: Account, identifier: str, outputs: Values) -> None:
    cluster, _, principal = identifier.partition(":")
    account.client("eks").delete_access_entry(clusterName=cluster, principalArn=principal)


ACCESS_ENTRY = ResourceType(
    token="aws:eks/accessEntry:AccessEntry",
    inputs=frozenset(
        {"clusterName", "principalArn", "type", "kubernetesGroups", "userName", "tags"}
    ),
    required=frozenset({"clusterName", "principalArn"}),
    computed=frozenset({"accessEntryArn", "kubernetesGroups", "userName"}),
    replace_on=frozenset({"clusterName", "principalArn", "type"}),
    create=_create_entry,
    read=_read_entry,
    update=_update_entry,
    delete=_delete_entry,
)

RESOURCE_TYPES = (NODE_GROUP, ACCESS_ENTRY)

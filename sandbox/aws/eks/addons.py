"""EKS add-ons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.core.responses import ActionResult
from moto.moto_api._internal import mock_random

from sandbox.aws.clock import CLOCK
from sandbox.aws.eks.cluster_updates import ClusterUpdateCalls, record_update
from sandbox.aws.eks.errors import in_use, invalid_parameter
from sandbox.aws.eks.roles import check_role
from sandbox.aws.eks.store import Cluster, page
from sandbox.aws.eks.versions import addon_versions, supported_versions

_KEPT = ("serviceAccountRoleArn", "configurationValues", "podIdentityAssociations")


class AddonCalls(ClusterUpdateCalls):
    """Calls on add-ons; mixed into the EKS response class."""

    def create_addon(self) -> ActionResult:
        """CreateAddon: ACTIVE at once."""
        parameters: Mapping[str, Any] = self.params
        cluster = self.active_cluster(parameters["clusterName"])
        name = parameters["addonName"]
        if name in cluster.addons:
            in_use("Addon already exists.", clusterName=cluster.name, addonName=name)
        version = _checked_version(cluster, name, parameters.get("addonVersion"))
        self._check_role(cluster, parameters)
        now = CLOCK.now()
        cluster.addons[name] = {
            "addonName": name,
            "clusterName": cluster.name,
            "status": "ACTIVE",
            "addonVersion": version,
            "health": {"issues": []},
            "addonArn": self.arn("addon", cluster.name, name, str(mock_random.uuid4())),
            "createdAt": now,
            "modifiedAt": now,
            "tags": dict(parameters.get("tags") or {}),
            **{key: parameters[key] for key in _KEPT if parameters.get(key)},
        }
        return ActionResult({"addon": cluster.addons[name]})

    def describe_addon(self) -> ActionResult:
        """DescribeAddon."""
        cluster = self.store.cluster(self.params["clusterName"])
        return ActionResult({"addon": cluster.addon(self.params["addonName"])})

    def list_addons(self) -> ActionResult:
        """ListAddons."""
        cluster = self.store.cluster(self.params["clusterName"])
        names, token = page(
            list(cluster.addons), self.params.get("nextToken"), self.params.get("maxResults")
        )
        return ActionResult({"addons": names, "nextToken": token})

    def update_addon(self) -> ActionResult:
        """UpdateAddon."""
        parameters: Mapping[str, Any] = self.params
        cluster = self.active_cluster(parameters["clusterName"])
        name = parameters["addonName"]
        addon = cluster.addon(name)
        changes: dict[str, Any] = {}
        if parameters.get("addonVersion"):
            version = _checked_version(cluster, name, parameters["addonVersion"])
            addon["addonVersion"] = changes["AddonVersion"] = version
        self._check_role(cluster, parameters)
        for key in _KEPT:
            if parameters.get(key) is not None:
                addon[key] = parameters[key]
                changes[key[0].upper() + key[1:]] = parameters[key]
        addon["modifiedAt"] = CLOCK.now()
        update = record_update(cluster, "AddonUpdate", changes, addon=name)
        return ActionResult({"update": update})

    def delete_addon(self) -> ActionResult:
        """DeleteAddon: gone at once."""
        cluster = self.store.cluster(self.params["clusterName"])
        addon = cluster.addon(self.params["addonName"])
        del cluster.addons[self.params["addonName"]]
        return ActionResult({"addon": {**addon, "status": "DELETING"}})

    def describe_addon_versions(self) -> ActionResult:
        """DescribeAddonVersions: the one version of each add-on that the sandbox knows."""
        wanted_version, wanted_name = (
            self.params.get("kubernetesVersion"),
            self.params.get("addonName"),
        )
        offered: dict[str, dict[str, list[str]]] = {}
        for kubernetes in [wanted_version] if wanted_version else supported_versions():
            for name, version in addon_versions(kubernetes).items():
                offered.setdefault(name, {}).setdefault(version, []).append(kubernetes)
        return ActionResult(
            {
                "addons": [
                    {
                        "addonName": name,
                        "type": "networking",
                        "publisher": "eks",
                        "owner": "aws",
                        "addonVersions": [_described(*each) for each in versions.items()],
                    }
                    for name, versions in offered.items()
                    if wanted_name in (None, name)
                ]
            }
        )

    def _check_role(self, cluster: Cluster, parameters: Mapping[str, Any]) -> None:
        role_arn = parameters.get("serviceAccountRoleArn")
        if role_arn:
            check_role(self.current_account, role_arn, clusterName=cluster.name)


def _checked_version(cluster: Cluster, name: str, version: str | None) -> str:
    offered = addon_versions(cluster.fields["version"])
    if name not in offered:
        invalid_parameter(
            f"Addon {name} specified is not supported in {cluster.fields['version']} kubernetes "
            "version",
            clusterName=cluster.name,
            addonName=name,
        )
    if version is not None and version != offered[name]:
        invalid_parameter(
            f"Addon version specified is not supported: {version}; the sandbox has "
            f"{offered[name]}, the version that components/catalog/versions.py pins",
            clusterName=cluster.name,
            addonName=name,
        )
    return offered[name]


def _described(version: str, kubernetes_versions: list[str]) -> dict[str, Any]:
    return {
        "addonVersion": version,
        "architecture": ["amd64", "arm64"],
        "computeTypes": ["ec2"],
        "compatibilities": [
            {
                "clusterVersion": kubernetes,
                "platformVersions": ["*"],
                "defaultVersion": True,
            }
            for kubernetes in kubernetes_versions
        ],
        "requiresConfiguration": False,
        "requiresIamPermissions": False,
    }

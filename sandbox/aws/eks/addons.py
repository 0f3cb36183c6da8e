"""EKS add-ons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.core.responses import ActionResult
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.eks.addon_configuration import check_configuration
from trainyard.sandbox.aws.eks.addon_offers import (
    default_version,
    offered_versions,
    versions_before,
)
from trainyard.sandbox.aws.eks.addon_workloads import install, observe, remove
from trainyard.sandbox.aws.eks.cluster_updates import ADDON_TYPE, record_update
from trainyard.sandbox.aws.eks.errors import in_use, invalid_parameter
from trainyard.sandbox.aws.eks.pod_identity import PodIdentityCalls, take_roles
from trainyard.sandbox.aws.eks.roles import check_role
from trainyard.sandbox.aws.eks.store import Cluster, page
from trainyard.sandbox.aws.eks.versions import supported_versions
from trainyard.sandbox.aws.transitions import TRANSITIONS

_KEPT = ("serviceAccountRoleArn", "configurationValues")


class AddonCalls(PodIdentityCalls):
    """Calls on add-ons; mixed into the EKS response class."""

    def create_addon(self) -> ActionResult:
        """CreateAddon: CREATING for as long as in AWS, then according to its pods."""
        parameters: Mapping[str, Any] = self.params
        cluster = self.active_cluster(parameters["clusterName"])
        name = parameters["addonName"]
        if name in cluster.addons:
            in_use("Addon already exists.", clusterName=cluster.name, addonName=name)
        version = _checked_version(cluster, name, parameters.get("addonVersion"))
        self._check_role(cluster, parameters)
        check_configuration(cluster.name, name, parameters.get("configurationValues"))
        now = CLOCK.now()
        addon: dict[str, Any] = {
            "addonName": name,
            "clusterName": cluster.name,
            "status": "CREATING",
            "addonVersion": version,
            "health": {"issues": []},
            "addonArn": self.arn("addon", cluster.name, name, str(mock_random.uuid4())),
            "createdAt": now,
            "modifiedAt": now,
            "tags": dict(parameters.get("tags") or {}),
            **{key: parameters[key] for key in _KEPT if parameters.get(key)},
        }
        wanted = parameters.get("podIdentityAssociations") or []
        addon["podIdentityAssociations"] = self.give_roles(cluster, addon["addonArn"], wanted)
        cluster.addons[name] = addon
        install(cluster, addon)
        TRANSITIONS.begin(
            ADDON_TYPE,
            "create",
            lambda: addon.update(status="ACTIVE"),
            inputs={"addonName": name},
        )
        return ActionResult({"addon": observe(cluster, addon)})

    def describe_addon(self) -> ActionResult:
        """DescribeAddon."""
        cluster = self.store.cluster(self.params["clusterName"])
        addon = cluster.addon(self.params["addonName"])
        return ActionResult({"addon": observe(cluster, addon)})

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
        check_configuration(cluster.name, name, parameters.get("configurationValues"))
        if parameters.get("podIdentityAssociations") is not None:
            wanted = parameters["podIdentityAssociations"]
            addon["podIdentityAssociations"] = self.give_roles(cluster, addon["addonArn"], wanted)
            changes["PodIdentityAssociations"] = addon["podIdentityAssociations"]
        for key in _KEPT:
            if parameters.get(key) is not None:
                addon[key] = parameters[key]
                changes[key[0].upper() + key[1:]] = parameters[key]
        addon["modifiedAt"] = CLOCK.now()
        install(cluster, addon)
        update = record_update(cluster, "AddonUpdate", changes, addon=name)
        return ActionResult({"update": update})

    def delete_addon(self) -> ActionResult:
        """DeleteAddon: also removes its objects unless they are preserved."""
        cluster = self.store.cluster(self.params["clusterName"])
        name = self.params["addonName"]
        addon = cluster.addon(name)
        if not self.params.get("preserve"):
            remove(cluster, addon)
        take_roles(cluster, addon["addonArn"])
        addon["status"] = "DELETING"
        TRANSITIONS.begin(
            ADDON_TYPE,
            "delete",
            lambda: cluster.addons.pop(name, None),
            inputs={"addonName": name},
        )
        return ActionResult({"addon": addon})

    def describe_addon_versions(self) -> ActionResult:
        """DescribeAddonVersions: from the sandbox's table of offers."""
        wanted_version, wanted_name = (
            self.params.get("kubernetesVersion"),
            self.params.get("addonName"),
        )
        offered: dict[str, dict[str, list[str]]] = {}
        for kubernetes in [wanted_version] if wanted_version else supported_versions():
            for name, versions in offered_versions(kubernetes).items():
                for version in versions:
                    offered.setdefault(name, {}).setdefault(version, []).append(kubernetes)
        return ActionResult(
            {
                "addons": [
                    {
                        "addonName": name,
                        "type": "networking",
                        "publisher": "eks",
                        "owner": "aws",
                        "addonVersions": [_described(name, *each) for each in versions.items()],
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
    kubernetes = cluster.fields["version"]
    offered = offered_versions(kubernetes)
    if name not in offered:
        invalid_parameter(
            f"Addon {name} specified is not supported in {kubernetes} kubernetes version",
            clusterName=cluster.name,
            addonName=name,
        )
    if version is not None and version not in {*offered[name], *versions_before(name, kubernetes)}:
        invalid_parameter(
            f"Addon version specified is not supported: {version}; for Kubernetes {kubernetes} "
            f"the sandbox has {', '.join(offered[name])}",
            clusterName=cluster.name,
            addonName=name,
        )
    return version or default_version(name, kubernetes)


def _described(name: str, version: str, kubernetes_versions: list[str]) -> dict[str, Any]:
    return {
        "addonVersion": version,
        "architecture": ["amd64", "arm64"],
        "computeTypes": ["ec2"],
        "compatibilities": [
            {
                "clusterVersion": kubernetes,
                "platformVersions": ["*"],
                "defaultVersion": version == default_version(name, kubernetes),
            }
            for kubernetes in kubernetes_versions
        ],
        "requiresConfiguration": False,
        "requiresIamPermissions": False,
    }

"""EKS add-ons: offered versions, configuration, and their objects in the cluster."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from moto.core.responses import ActionResult
from moto.moto_api._internal import mock_random

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.eks.access import PodIdentityCalls, take_roles
from trainyard.sandbox.aws.eks.clusters import ADDON_TYPE, check_role, record_update
from trainyard.sandbox.aws.eks.store import Cluster, in_use, invalid_parameter, page
from trainyard.sandbox.aws.eks.versions import DEFAULT, minor_number, supported_versions
from trainyard.sandbox.aws.transitions import TRANSITIONS

# Configuration of add-ons, as far as the sandbox validates it.
#
# Sources: `values.schema.json` of https://github.com/kubernetes-sigs/aws-ebs-csi-driver and
# `charts/configuration.schema.json` of https://github.com/aws/eks-node-monitoring-agent, from which
# EKS derives the schema in DescribeAddonConfiguration; `values.yaml` of
# https://github.com/aws-observability/helm-charts, which has no schema.


_SCHEMAS: Mapping[str, Mapping[str, frozenset[str]]] = {
    "aws-fsx-csi-driver": {},
    "eks-pod-identity-agent": {},
    "aws-ebs-csi-driver": {
        "controller": frozenset({"affinity", "nodeSelector", "replicaCount", "tolerations"}),
        "node": frozenset({"affinity", "nodeSelector", "tolerateAllTaints", "tolerations"}),
    },
    "amazon-cloudwatch-observability": {
        "agent": frozenset({"config", "resources", "tolerations"}),
        "containerLogs": frozenset({"enabled", "fluentBit"}),
        "manager": frozenset({"applicationSignals", "resources"}),
    },
    "eks-node-monitoring-agent": {
        "nodeAgent": frozenset({"affinity", "monitors", "nodeSelector", "tolerations"}),
        "dcgmAgent": frozenset({"affinity", "nodeSelector", "tolerations"}),
    },
}
"""Sections and their settings, by add-on, that a program may use. Other add-ons accept anything."""


def check_configuration(cluster_name: str, addon: str, text: str | None) -> None:
    """Reject settings that are not JSON, or that are unknown for the add-on.

    Raises:
        InvalidParameterException: With the path of the setting.
    """
    if not text:
        return
    try:
        settings: Any = json.loads(text)
    except ValueError:
        settings = None
    about = {"clusterName": cluster_name, "addonName": addon}
    if not isinstance(settings, dict):
        invalid_parameter("ConfigurationValue provided in request is not an object", **about)
    schema = _SCHEMAS.get(addon)
    if schema is None:
        return
    unknown = [f"$.{section}" for section in settings if section not in schema] + [
        f"$.{section}.{key}"
        for section, values in settings.items()
        if section in schema
        for key in values
        if key not in schema[section]
    ]
    if unknown:
        invalid_parameter(
            "ConfigurationValue provided in request is not supported: Json schema validation "
            f"failed with error: [{unknown[0]}: is not defined in the schema and the schema does "
            "not allow additional properties]",
            **about,
        )


# Add-on versions for each Kubernetes version, for DescribeAddonVersions.
#
# EKS documents no defaults. They are what its accounts answered in September 2026, in public
# configurations and reports that quote `aws eks describe-addon-versions --kubernetes-version …`.
# The other versions were used in such configurations of clusters with that Kubernetes version in
# 2026. EKS offers more of them.


_DEFAULTS: Mapping[str, Mapping[str, str]] = {
    "1.34": {"kube-proxy": "v1.34.6-eksbuild.29", "coredns": "v1.12.4-eksbuild.38"},
    "1.35": {"kube-proxy": "v1.35.3-eksbuild.29", "coredns": "v1.13.2-eksbuild.31"},
    "1.36": {"kube-proxy": "v1.36.0-eksbuild.25", "coredns": "v1.14.3-eksbuild.23"},
}
_DEFAULTS_OF_ALL: Mapping[str, str] = {
    "vpc-cni": "v1.22.4-eksbuild.3",
    "eks-pod-identity-agent": "v1.3.10-eksbuild.3",
    "aws-ebs-csi-driver": "v1.66.0-eksbuild.1",
    "aws-fsx-csi-driver": "v1.9.0-eksbuild.1",
    "aws-efs-csi-driver": "v3.4.0-eksbuild.1",
    "eks-node-monitoring-agent": "v1.7.0-eksbuild.1",
    "amazon-cloudwatch-observability": "v6.7.0-eksbuild.1",
    "metrics-server": "v0.9.0-eksbuild.11",
}
"""Defaults that are the same for these Kubernetes versions. Of the drivers for FSx and EFS and the
node monitoring agent, only that the versions are used is known."""
_OLDER = {
    "aws-ebs-csi-driver": ("v1.64.0-eksbuild.1", "v1.63.0-eksbuild.1"),
    "amazon-cloudwatch-observability": (
        "v6.6.0-eksbuild.1",
        "v6.5.0-eksbuild.1",
        "v6.4.0-eksbuild.1",
    ),
}
_VPC_CNI = (
    "v1.23.1-eksbuild.1",
    "v1.23.0-eksbuild.1",
    "v1.22.3-eksbuild.1",
    "v1.21.2-eksbuild.2",
    "v1.21.1-eksbuild.1",
    "v1.20.5-eksbuild.1",
    "v1.20.4-eksbuild.2",
)
_FURTHER: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "1.34": {
        "vpc-cni": _VPC_CNI,
        "kube-proxy": ("v1.34.6-eksbuild.21", "v1.34.6-eksbuild.18", "v1.34.1-eksbuild.2"),
        "coredns": ("v1.13.2-eksbuild.11", "v1.12.4-eksbuild.29", "v1.12.4-eksbuild.18"),
    },
    "1.35": {
        "vpc-cni": _VPC_CNI,
        "coredns": ("v1.14.6-eksbuild.4", "v1.14.3-eksbuild.22", "v1.13.2-eksbuild.4"),
    },
    "1.36": {
        "vpc-cni": ("v1.23.1-eksbuild.1",),
        "kube-proxy": ("v1.36.0-eksbuild.14",),
        "coredns": ("v1.14.6-eksbuild.4",),
        "eks-pod-identity-agent": ("v1.4.0-eksbuild.2",),
    },
}


def offered_versions(kubernetes_version: str) -> dict[str, list[str]]:
    """Return the versions of each add-on for a Kubernetes version, newest first."""
    further = _FURTHER.get(kubernetes_version, {})
    return {
        name: sorted(
            {default, *further.get(name, ()), *_OLDER.get(name, ())}, key=_numbers, reverse=True
        )
        for name, default in _defaults(kubernetes_version).items()
    }


def default_version(name: str, kubernetes_version: str) -> str:
    """Return the version that EKS installs by default.

    Raises:
        KeyError: The add-on is not available for the Kubernetes version.
    """
    return _defaults(kubernetes_version)[name]


def versions_before(name: str, kubernetes_version: str) -> list[str]:
    """Return the versions of kube-proxy before the upgrade of a cluster; empty for others.

    kube-proxy goes back before its cluster does:
    https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html, "Rollback and add-ons".
    """
    before = minor_number(kubernetes_version) - 1
    return [
        own[name]
        for minor, own in _DEFAULTS.items()
        if name == "kube-proxy" and minor_number(minor) == before
    ]


def _defaults(kubernetes_version: str) -> dict[str, str]:
    """Return EKS's default of each add-on; those of its default version for older ones."""
    own = _DEFAULTS.get(kubernetes_version) or _DEFAULTS[DEFAULT]
    return {**_DEFAULTS_OF_ALL, **own}


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


# The objects of an add-on in its cluster, and its health.
#
# https://docs.aws.amazon.com/eks/latest/APIReference/API_AddonIssue.html


class AddonInstaller(Protocol):
    """Installs add-ons; implemented by `trainyard.sandbox.kubernetes.addons.AddonObjects`."""

    def install(self, cluster: str, addon: str, settings: Mapping[str, Any]) -> None:
        """Create an add-on's objects, or update them to new settings."""
        ...

    def remove(self, cluster: str, addon: str) -> None:
        """Remove its objects."""
        ...

    def trouble(self, cluster: str, addon: str) -> str | None:
        """Return which part does not run; None if all parts run."""
        ...


@dataclass
class _Wiring:
    installer: AddonInstaller | None = None


_WIRING = _Wiring()


def use_addon_installer(installer: AddonInstaller | None) -> None:
    """Set what installs add-ons; None makes them ACTIVE at once, without objects."""
    _WIRING.installer = installer


def install(cluster: Cluster, addon: Mapping[str, Any]) -> None:
    """Install the objects of an add-on, with its settings."""
    if _WIRING.installer is not None:
        settings = json.loads(addon.get("configurationValues") or "{}")
        _WIRING.installer.install(cluster.name, addon["addonName"], settings)


def remove(cluster: Cluster, addon: Mapping[str, Any]) -> None:
    """Remove its objects."""
    if _WIRING.installer is not None:
        _WIRING.installer.remove(cluster.name, addon["addonName"])


def observe(cluster: Cluster, addon: dict[str, Any]) -> dict[str, Any]:
    """Return an add-on with its current health: ACTIVE, or DEGRADED with the reason.

    In EKS, a new add-on whose pods do not run is CREATING for some minutes first; that is not
    emulated.
    """
    if addon["status"] in ("CREATING", "DELETING"):
        return addon
    if _WIRING.installer is None or cluster.fields["status"] != "ACTIVE":
        return addon
    trouble = _WIRING.installer.trouble(cluster.name, addon["addonName"])
    issues: list[dict[str, Any]] = []
    if trouble is not None:
        issues = [
            {"code": "InsufficientNumberOfReplicas", "message": trouble, "resourceIds": []},
        ]
    addon.update(status="DEGRADED" if issues else "ACTIVE", health={"issues": issues})
    return addon


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

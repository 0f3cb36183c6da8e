"""The add-ons of an eksctl `ClusterConfig`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tools.importing.draft import Draft
from tools.importing.reader import Reader

_ALWAYS = ("vpc-cni", "kube-proxy", "coredns")
_KEYS: Mapping[str, str] = {
    "eks-pod-identity-agent": "pod_identity_agent",
    "aws-ebs-csi-driver": "ebs_csi_driver",
    "aws-fsx-csi-driver": "fsx_csi_driver",
    "eks-node-monitoring-agent": "node_monitoring_agent",
    "amazon-cloudwatch-observability": "cloudwatch_observability",
}
"""Key of the stack file by the name of the add-on."""
_VERSION = re.compile(r"v\d+\.\d+\.\d+-eksbuild\.\d+")
_PERMISSIONS = (
    "attachPolicyARNs",
    "attachPolicy",
    "serviceAccountRoleARN",
    "wellKnownPolicies",
    "podIdentityAssociations",
    "useDefaultPodIdentityAssociations",
    "permissionsBoundary",
)


def read_addons(source: Reader, architecture: Draft) -> None:
    """Read the entries of `addons`."""
    for addon in source.items():
        _read(addon, architecture)


def _read(addon: Reader, architecture: Draft) -> None:
    name = str(addon.at("name").value)
    if name in _KEYS:
        addons = architecture.section("addons", addon)
        addons.take(_KEYS[name], addon.at("name"), change=lambda _: True)
    elif name in _ALWAYS:
        addon.at("name").implied("it is always installed")
    else:
        addon.unsupported(
            f"install it after `up`: `aws eks create-addon --cluster-name CLUSTER --addon-name "
            f"{name}`"
        )
        return
    version = addon.at("version")
    if _VERSION.fullmatch(str(version.value)):
        architecture.section("addons").section("versions").take(name, version)
    version.implied("the stack pins a version that it was tested with")
    for key in _PERMISSIONS:
        addon.at(key).implied("the stack gives the add-on the role that it needs")
    addon.at("resolveConflicts").implied("the stack overwrites fields that others have changed")

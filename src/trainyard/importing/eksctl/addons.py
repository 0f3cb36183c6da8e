"""The add-ons of an eksctl `ClusterConfig`."""

from __future__ import annotations

from trainyard.importing.draft import Draft
from trainyard.importing.eks_addons import take_addon
from trainyard.importing.reader import Reader

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
    name, version = addon.at("name"), addon.at("version")
    if not take_addon(
        str(name.value), addon, named=name, version=version, architecture=architecture
    ):
        return
    for key in _PERMISSIONS:
        addon.at(key).implied("the stack gives the add-on the role that it needs")
    addon.at("resolveConflicts").implied("the stack overwrites fields that others have changed")

"""Add-on versions for each Kubernetes version, for DescribeAddonVersions.

The versions that the program pins are EKS's defaults. The other versions were used in public
configurations of clusters with that Kubernetes version in 2026. EKS offers more of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from trainyard.sandbox.aws.eks.versions import addon_versions

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
        name: sorted({default, *further.get(name, ())}, key=_numbers, reverse=True)
        for name, default in addon_versions(kubernetes_version).items()
    }


def default_version(name: str, kubernetes_version: str) -> str:
    """Return the version that EKS installs by default.

    Raises:
        KeyError: The add-on is not available for the Kubernetes version.
    """
    return addon_versions(kubernetes_version)[name]


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]

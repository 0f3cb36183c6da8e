"""Add-on versions for each Kubernetes version, for DescribeAddonVersions.

EKS documents no defaults. They are what its accounts answered in September 2026, in public
configurations and reports that quote `aws eks describe-addon-versions --kubernetes-version …`. The
other versions were used in such configurations of clusters with that Kubernetes version in 2026.
EKS offers more of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from trainyard.sandbox.aws.eks.versions import DEFAULT, minor_number

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

"""Kubernetes versions that EKS runs, and the add-ons that it offers.

https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html: a version has fourteen
months of standard support and twelve of extended support; after that EKS rejects it.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, date, datetime, timedelta
from typing import Any

from trainyard.components.catalog.versions import (
    DEFAULT_KUBERNETES_VERSION,
    EKS_VERSIONS,
    STANDARD_SUPPORT_ENDS,
    minor_number,
)
from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.eks.errors import invalid_parameter

_EXTENDED_SUPPORT = timedelta(days=365)
_STANDARD_SUPPORT_MONTHS = 14

_OTHER_ADDONS = {
    "aws-efs-csi-driver": "v2.3.0-eksbuild.1",
    "metrics-server": "v0.8.1-eksbuild.1",
}
"""Add-ons that the program does not pin, with one version each."""


def is_supported(version: str) -> bool:
    """Return whether EKS still creates clusters of a version, in standard or extended support."""
    ends = STANDARD_SUPPORT_ENDS.get(version)
    return ends is not None and CLOCK.now().date() < ends + _EXTENDED_SUPPORT


def check_version(version: str | None) -> str:
    """Return the requested version, or the default.

    Raises:
        InvalidParameterException: EKS does not support it, or no longer.
    """
    if version is None:
        return DEFAULT_KUBERNETES_VERSION
    if not is_supported(version):
        invalid_parameter("unsupported Kubernetes version")
    return version


def described_version(version: str) -> dict[str, Any]:
    """Return a version as in DescribeClusterVersions."""
    ends = STANDARD_SUPPORT_ENDS[version]
    standard = CLOCK.now().date() < ends
    return {
        "clusterVersion": version,
        "clusterType": "eks",
        "defaultPlatformVersion": "eks.1",
        "defaultVersion": version == DEFAULT_KUBERNETES_VERSION,
        "kubernetesPatchVersion": _patch(version),
        "releaseDate": _midnight(_released(ends)),
        "endOfStandardSupportDate": _midnight(ends),
        "endOfExtendedSupportDate": _midnight(ends + _EXTENDED_SUPPORT),
        # Real accounts answer both alike; the model still has other values of the first.
        "status": "STANDARD_SUPPORT" if standard else "EXTENDED_SUPPORT",
        "versionStatus": "STANDARD_SUPPORT" if standard else "EXTENDED_SUPPORT",
    }


def supported_versions() -> list[str]:
    """Return the versions that EKS supports, newest first."""
    found = [version for version in STANDARD_SUPPORT_ENDS if is_supported(version)]
    return sorted(found, key=minor_number, reverse=True)


def addon_versions(kubernetes_version: str) -> dict[str, str]:
    """Return the version of each EKS add-on for a Kubernetes version."""
    pins = EKS_VERSIONS.get(kubernetes_version) or EKS_VERSIONS[DEFAULT_KUBERNETES_VERSION]
    return {**pins.addon_versions(), **_OTHER_ADDONS}


def _released(ends: date) -> date:
    """Return when EKS released a version whose standard support of fourteen months ends then."""
    year, month = divmod(ends.year * 12 + ends.month - 1 - _STANDARD_SUPPORT_MONTHS, 12)
    return date(year, month + 1, min(ends.day, monthrange(year, month + 1)[1]))


def _patch(version: str) -> str:
    """Return the newest patch of a version that the program pins; for others, the first one."""
    pins = EKS_VERSIONS.get(version)
    return pins.ami_release_version.partition("-")[0] if pins else f"{version}.0"


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)

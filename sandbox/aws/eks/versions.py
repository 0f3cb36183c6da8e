"""Kubernetes versions that EKS runs, and the releases of its node images.

Sources:
    https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html: a version has
        fourteen months of standard support and twelve of extended support; after that EKS rejects
        it. The dates are also in https://endoflife.date/amazon-eks.
    https://github.com/awslabs/amazon-eks-ami/releases: node images, by kubelet version and date
    https://kubernetes.io/releases/version-skew-policy/#kubelet
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from types import MappingProxyType
from typing import Any

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.aws.eks.store import invalid_parameter

DEFAULT = "1.36"
"""What `aws eks describe-cluster-versions --default-only` answers."""
STANDARD_SUPPORT_ENDS: Mapping[str, date] = MappingProxyType(
    {
        "1.28": date(2024, 11, 26),
        "1.29": date(2025, 3, 23),
        "1.30": date(2025, 7, 23),
        "1.31": date(2025, 11, 26),
        "1.32": date(2026, 3, 23),
        "1.33": date(2026, 7, 29),
        "1.34": date(2026, 12, 2),
        "1.35": date(2027, 3, 27),
        "1.36": date(2027, 8, 2),
    }
)
"""By minor version. The sandbox cannot run later ones."""
NODE_RELEASES: Mapping[str, str] = MappingProxyType(
    {"1.34": "1.34.10-20260903", "1.35": "1.35.7-20260911", "1.36": "1.36.4-20260923"}
)
"""The release of the node images that the account has, by minor version; EKS has more of them."""
KUBELET_SKEW = 3
"""Minor versions that a kubelet can be behind the API server; it must not be newer."""

_EXTENDED_SUPPORT = timedelta(days=365)
_STANDARD_SUPPORT_MONTHS = 14


def minor_number(version: str) -> int:
    """Return 35 for `1.35`, and for longer versions such as `v1.35.3-eksbuild.29`."""
    return int(version.split(".")[1])


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
        return DEFAULT
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
        "defaultVersion": version == DEFAULT,
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


def _released(ends: date) -> date:
    """Return when EKS released a version whose standard support of fourteen months ends then."""
    year, month = divmod(ends.year * 12 + ends.month - 1 - _STANDARD_SUPPORT_MONTHS, 12)
    return date(year, month + 1, min(ends.day, monthrange(year, month + 1)[1]))


def _patch(version: str) -> str:
    """Return the patch release of the account's node images; the first one without images."""
    return NODE_RELEASES.get(version, f"{version}.0").partition("-")[0]


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)

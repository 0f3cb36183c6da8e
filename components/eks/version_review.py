"""Checks of a cluster's Kubernetes version.

`components.eks.version_check` checks the upgrade of an existing cluster.
"""

from __future__ import annotations

from datetime import datetime

from components.catalog.versions import (
    EKS_VERSIONS,
    STANDARD_SUPPORT_ENDS,
    minor_number,
    standard_support_ended,
    standard_support_ends_soon,
)
from components.config.eks import EksArchitecture
from components.config.review import Review

KEY = "architecture.kubernetes_version"
EXTENDED_SUPPORT_COSTS = "six times as much"
"""Compared with the standard price of a cluster. https://aws.amazon.com/eks/pricing/"""


def review_version(architecture: EksArchitecture, now: datetime, review: Review) -> None:
    """Refuse a version without pins or standard support; note a support period that ends soon."""
    version, today = architecture.kubernetes_version, now.date()
    if standard_support_ended(version, today):
        ends = STANDARD_SUPPORT_ENDS.get(version)
        since = f" since {ends.isoformat()}" if ends else ""
        _refuse(
            version,
            f"has been out of EKS's standard support{since}; extended support costs "
            f"{EXTENDED_SUPPORT_COSTS} and ends with a forced upgrade",
            review,
        )
    elif version not in EKS_VERSIONS:
        _refuse(
            version,
            "is a version for which no AMI and add-ons are pinned (`catalog/versions.py`)",
            review,
        )
    elif (ends := standard_support_ends_soon(version, today)) is not None:
        days = (ends - today).days
        newer = next_version(version)
        way = f"upgrade with `{review.set_command(KEY, newer)}`" if newer else "none is newer yet"
        review.note(
            f"Kubernetes {version} leaves EKS's standard support on {ends.isoformat()}, in {days} "
            f"{'day' if days == 1 else 'days'}: from then on the cluster costs "
            f"{EXTENDED_SUPPORT_COSTS} and this program refuses the version; {way} "
            "(docs/upgrades.md)"
        )


def newest_version() -> str:
    """Return the newest pinned version."""
    return max(EKS_VERSIONS, key=minor_number)


def next_version(version: str) -> str | None:
    """Return the next pinned version to upgrade to, or None if `version` is the newest.

    EKS upgrades one minor version at a time:
    https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html
    """
    newer = [each for each in EKS_VERSIONS if minor_number(each) > minor_number(version)]
    return min(newer, key=minor_number, default=None)


def _refuse(version: str, problem: str, review: Review) -> None:
    review.refuse(
        KEY,
        problem,
        found=version,
        allowed=", ".join(EKS_VERSIONS),
        remedy=review.set_command(KEY, newest_version()),
        rules=("H5",),
    )

"""Checks of a cluster's Kubernetes version that need no account.

They refuse only what cannot be planned. A version past its standard support is noted: whether a
cluster of it exists, which EKS keeps running, only the account shows, and
`trainyard.components.eks.version_check` refuses a new one.
"""

from __future__ import annotations

from datetime import date, datetime

from trainyard.components.catalog.versions import (
    EKS_VERSIONS,
    STANDARD_SUPPORT_ENDS,
    minor_number,
    standard_support_ended,
    standard_support_ends_soon,
)
from trainyard.components.config.eks import EksArchitecture
from trainyard.components.config.review import Review

KEY = "architecture.kubernetes_version"
EXTENDED_SUPPORT_COSTS = "six times as much"
"""Compared with the standard price of a cluster. https://aws.amazon.com/eks/pricing/"""


def review_version(architecture: EksArchitecture, now: datetime, review: Review) -> None:
    """Refuse a version without pins; note standard support that has ended or ends soon."""
    version, today = architecture.kubernetes_version, now.date()
    newer = next_version(version)
    if version not in EKS_VERSIONS:
        ended = (
            f"has been out of EKS's standard support{since(version)}, and "
            if standard_support_ended(version, today)
            else ""
        )
        review.refuse(
            KEY,
            f"{ended}is a version for which no AMI and add-ons are pinned (`catalog/versions.py`)",
            found=version,
            allowed=", ".join(EKS_VERSIONS),
            remedy=review.set_command(KEY, newer or newest_version()),
            rules=("H5",),
        )
        return
    way = f"upgrade with `{review.set_command(KEY, newer)}`" if newer else "none is newer yet"
    if standard_support_ended(version, today):
        review.note(
            f"Kubernetes {version} has been out of EKS's standard support{since(version)}: a "
            f"cluster of it costs {EXTENDED_SUPPORT_COSTS}, EKS upgrades it twelve months after "
            f"that day, and `up` creates no new one; {way} (docs/upgrades.md)"
        )
    elif (ends := standard_support_ends_soon(version, today)) is not None:
        days = (ends - today).days
        review.note(
            f"Kubernetes {version} leaves EKS's standard support on {ends.isoformat()}, in {days} "
            f"{'day' if days == 1 else 'days'}: from then on the cluster costs "
            f"{EXTENDED_SUPPORT_COSTS}, and `up` creates no new one of this version; {way} "
            "(docs/upgrades.md)"
        )


def since(version: str) -> str:
    """Return ` since 2026-12-02` for a version whose day is known, or nothing."""
    ends = STANDARD_SUPPORT_ENDS.get(version)
    return f" since {ends.isoformat()}" if ends else ""


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


def versions_of_new_clusters(today: date) -> list[str]:
    """Return the pinned versions in standard support, oldest first."""
    supported = (each for each in EKS_VERSIONS if not standard_support_ended(each, today))
    return sorted(supported, key=minor_number)

"""Whether EKS supports the Kubernetes version of a stack.

Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeClusterVersions.html
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime

from trainyard.components.account.facts import AccountFacts
from trainyard.components.account.lookup import AccountReader
from trainyard.components.account.preflight_facts import PreflightFacts, VersionFacts
from trainyard.components.catalog.versions import SUPPORT_NOTICE
from trainyard.components.checks.row import Row, ok, refused, skipped, warning
from trainyard.components.config.eks_stack import EksStackConfig
from trainyard.components.config.problems import ROOT, Problem

DESCRIBE_VERSIONS = "eks:DescribeClusterVersions"
VERSION = "EKS supports the version"
_ALL_VERSIONS = 100
_NONE = "UNSUPPORTED"


def look_up_versions(reader: AccountReader) -> dict[str, VersionFacts]:
    """Return the Kubernetes versions of EKS, by version."""
    # All versions, because the API does not document its response to unknown versions.
    answer = reader.ask_or_none(
        DESCRIBE_VERSIONS, reader.eks.describe_cluster_versions, maxResults=_ALL_VERSIONS
    )
    return {
        each["clusterVersion"]: VersionFacts(
            status=each.get("versionStatus", ""),
            standard_support_ends=_day(each.get("endOfStandardSupportDate")),
        )
        for each in (answer or {}).get("clusterVersions", [])
    }


def _day(moment: datetime | None) -> date | None:
    """Return the day in UTC; boto3 returns the times of EKS in the zone of the machine."""
    return None if moment is None else moment.astimezone(UTC).date()


def version_rows(
    config: EksStackConfig, facts: AccountFacts, more: PreflightFacts, today: date
) -> Iterator[Row]:
    """Yield a row on whether EKS supports the Kubernetes version.

    A version that EKS no longer lists is refused for a new cluster only.
    """
    version, key = config.architecture.kubernetes_version, "architecture.kubernetes_version"
    reason = more.why_not(DESCRIBE_VERSIONS)
    if reason is not None:
        yield skipped(key, VERSION, reason)
        return
    found = more.kubernetes_versions.get(version)
    listed = found is not None and found.status != _NONE
    if not listed and facts.cluster is not None:
        later = f"EKS no longer supports {version}, and upgrades clusters of it"
        yield warning(key, VERSION, later)
    elif found is None or not listed:
        yield refused(
            VERSION,
            Problem(
                path=f"{ROOT}.{key}",
                found=version,
                problem="EKS makes no cluster of this version in this region",
                allowed=", ".join(
                    name for name, each in more.kubernetes_versions.items() if each.status != _NONE
                ),
                remedy="give a version that `aws eks describe-cluster-versions` lists",
            ),
        )
    else:
        yield _support(key, version, found, today)


def _support(key: str, version: str, found: VersionFacts, today: date) -> Row:
    ends = found.standard_support_ends
    if found.status == "EXTENDED_SUPPORT":
        return warning(key, VERSION, f"{version} is in extended support, which costs extra")
    if ends is not None and ends - today <= SUPPORT_NOTICE:
        return warning(key, VERSION, f"{version}: standard support ends on {ends}")
    return ok(key, VERSION, f"{version}" + (f", standard support until {ends}" if ends else ""))

"""Which node images EKS has released: those that the program pins."""

from __future__ import annotations

from components.catalog.versions import EKS_VERSIONS


def node_releases() -> dict[str, str]:
    """Return Kubernetes version (`1.35`) to the release of its node images (`1.35.7-20260911`)."""
    return {minor: version.ami_release_version for minor, version in EKS_VERSIONS.items()}

"""The Kubernetes versions of tests, relative to the default, so that a new default changes none."""

from components.catalog.versions import DEFAULT_KUBERNETES_VERSION, EKS_VERSIONS, minor_number

DEFAULT = DEFAULT_KUBERNETES_VERSION


def minor(steps: int) -> str:
    """Return the minor version that many steps after the default, or before it if negative."""
    return f"1.{minor_number(DEFAULT) + steps}"


PREVIOUS = minor(-1)
"""The version from which a cluster is upgraded."""
OLDEST = min(EKS_VERSIONS, key=minor_number)
"""The oldest version that is pinned."""
TOO_OLD = f"1.{minor_number(OLDEST) - 1}"
"""The newest version that is no longer pinned."""

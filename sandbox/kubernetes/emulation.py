"""The Kubernetes versions that the sandbox's programs can serve.

The programs have one version and can emulate older minor versions: their APIs, features and
defaults. `/version` then returns the programs' version as the built one, and the older one as
`emulationMajor` and `emulationMinor`. Sources: KEP-4330, stable since Kubernetes 1.34,
https://kubernetes.io/docs/concepts/cluster-administration/compatibility-version/, and
`kube-apiserver --help`, which lists the versions that it emulates.
"""

from __future__ import annotations

from trainyard.sandbox.engine.pins import KUBERNETES_VERSION

OWN_VERSION = KUBERNETES_VERSION.rpartition(".")[0]
"""Minor version of the sandbox's programs."""

_OWN_MINOR = int(OWN_VERSION.partition(".")[2])
_OLDEST_EMULATED = 3
"""Number of older minor versions that the programs emulate. Source: KEP-4330."""

EMULATED_VERSIONS = tuple(f"1.{_OWN_MINOR - back}" for back in range(_OLDEST_EMULATED, 0, -1))
"""Minor versions that the sandbox's programs emulate, oldest first."""


class UnsupportedVersionError(ValueError):
    """The sandbox does not support the requested Kubernetes version."""


def check_version(cluster: str, version: str | None) -> None:
    """Raise unless the sandbox supports `version`, `1.35` or `1.36.4`; None matches any.

    Raises:
        UnsupportedVersionError: the programs can neither run nor emulate it.
    """
    if version not in (None, OWN_VERSION, KUBERNETES_VERSION, *EMULATED_VERSIONS):
        raise UnsupportedVersionError(
            f"the sandbox runs Kubernetes {OWN_VERSION} and emulates "
            f"{', '.join(EMULATED_VERSIONS)}, but cluster {cluster!r} asks for {version}; set "
            f"architecture.kubernetes_version to {OWN_VERSION!r} in the stack file, or use a "
            "real account for this version"
        )


def emulated_version(version: str | None) -> str | None:
    """Return the minor version that the programs must emulate; None for their own."""
    return version if version in EMULATED_VERSIONS else None


def served_version(version: str | None) -> str:
    """Return the minor version that a cluster serves, `1.35`, for the requested `version`."""
    return emulated_version(version) or OWN_VERSION


def described_version(served: str) -> str:
    """Return a served version as text, with the programs that serve it."""
    if served == OWN_VERSION:
        return f"Kubernetes {KUBERNETES_VERSION}"
    return f"Kubernetes {served}, emulated by {KUBERNETES_VERSION}"

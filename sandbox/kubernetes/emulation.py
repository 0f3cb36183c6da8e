"""Which Kubernetes versions the sandbox's one set of programs can serve.

The programs are of one version; asked for an older minor version they emulate it: its APIs, its
features and their defaults. `/version` then names their own version as what was built, and the
older one as `emulationMajor` and `emulationMinor`. Sources: KEP-4330, stable since Kubernetes 1.34,
https://kubernetes.io/docs/concepts/cluster-administration/compatibility-version/, and
`kube-apiserver --help`, which lists the versions that it emulates.
"""

from __future__ import annotations

from tools.engine.pins import KUBERNETES_VERSION

OWN_VERSION = KUBERNETES_VERSION.rpartition(".")[0]
"""Minor version of the sandbox's programs."""

_OWN_MINOR = int(OWN_VERSION.partition(".")[2])
_OLDEST_EMULATED = 3
"""Minor versions that programs emulate, back from their own. Source: KEP-4330."""

EMULATED_VERSIONS = tuple(f"1.{_OWN_MINOR - back}" for back in range(_OLDEST_EMULATED, 0, -1))
"""Minor versions that the sandbox's programs emulate, oldest first."""


class UnsupportedVersionError(ValueError):
    """A Kubernetes version was asked for that the sandbox does not run."""


def check_version(cluster: str, version: str | None) -> None:
    """Raise unless the sandbox can run `version`, `1.35` or `1.36.4`; None asks for any.

    Raises:
        UnsupportedVersionError: it can neither run nor emulate it.
    """
    if version not in (None, OWN_VERSION, KUBERNETES_VERSION, *EMULATED_VERSIONS):
        raise UnsupportedVersionError(
            f"the sandbox runs Kubernetes {OWN_VERSION} and emulates "
            f"{', '.join(EMULATED_VERSIONS)}, but cluster {cluster!r} asks for {version}; set "
            f"architecture.kubernetes_version to {OWN_VERSION!r} in the stack file, or use a "
            "real account for this version"
        )


def emulated_version(version: str | None) -> str | None:
    """Return the minor version that the programs must emulate; None where it is their own."""
    return version if version in EMULATED_VERSIONS else None


def served_version(version: str | None) -> str:
    """Return the minor version that a cluster serves, `1.35`, of which `version` was asked."""
    return emulated_version(version) or OWN_VERSION


def described_version(served: str) -> str:
    """Return a served version for people, with what stands behind it."""
    if served == OWN_VERSION:
        return f"Kubernetes {KUBERNETES_VERSION}"
    return f"Kubernetes {served}, emulated by {KUBERNETES_VERSION}"

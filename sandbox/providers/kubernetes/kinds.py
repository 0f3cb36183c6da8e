"""Type tokens of pulumi-kubernetes and their kinds in the Kubernetes API."""

from __future__ import annotations

from dataclasses import dataclass

from trainyard.sandbox.providers._protocol.servicer import ProviderError

PATCH = "Patch"
OVERLAYS = frozenset({"yaml", "yaml/v2", "kustomize", "kustomize/v2", "helm.sh/v2", "helm.sh/v3"})
"""Groups of pulumi-kubernetes that are not API groups but programs in the official plugin.
https://www.pulumi.com/registry/packages/kubernetes/api-docs/"""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object in one API version."""

    api_version: str
    """`v1`, or `group/version`."""
    name: str
    is_patch: bool
    """Whether the resource owns only a part of an existing object."""

    @property
    def path(self) -> str:
        """Return the path of the API version on the server."""
        prefix = "/apis/" if "/" in self.api_version else "/api/"
        return prefix + self.api_version


def kind_of(token: str) -> Kind:
    """Return the kind of a type token such as `kubernetes:apps/v1:DaemonSet`.

    Raises:
        ProviderError: the token names a program of the official plugin (Helm, YAML), a list, or no
            version.
    """
    _, group, name = token.split(":")
    if group in OVERLAYS:
        raise ProviderError(
            f"the sandbox does not know the type {token}: it expands charts and files inside the "
            "official plugin; declare the objects themselves"
        )
    is_patch = name.endswith(PATCH) and name != PATCH
    name = name.removesuffix(PATCH) if is_patch else name
    api_version = group.removeprefix("core/")
    if name.endswith("List"):
        raise ProviderError(
            "list resources exist for compatibility with YAML manifests and Helm charts, and "
            "cannot be created directly. Use the underlying resource type instead"
        )
    if "/" in group:
        return Kind(api_version, name, is_patch)
    raise ProviderError(
        f"the sandbox does not know the type {token}; it knows the kinds that stand in the "
        "Kubernetes API with their version, such as kubernetes:apps/v1:DaemonSet"
    )

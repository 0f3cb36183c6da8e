"""Type tokens and the Kubernetes API."""

from __future__ import annotations

import pytest

from trainyard.sandbox.providers._protocol.servicer import ProviderError
from trainyard.sandbox.providers.kubernetes.kinds import Kind, kind_of


@pytest.mark.parametrize(
    ("token", "kind", "path"),
    [
        ("kubernetes:core/v1:ConfigMap", Kind("v1", "ConfigMap", False), "/api/v1"),
        ("kubernetes:apps/v1:DaemonSet", Kind("apps/v1", "DaemonSet", False), "/apis/apps/v1"),
        ("kubernetes:core/v1:ConfigMapPatch", Kind("v1", "ConfigMap", True), "/api/v1"),
        (
            "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole",
            Kind("rbac.authorization.k8s.io/v1", "ClusterRole", False),
            "/apis/rbac.authorization.k8s.io/v1",
        ),
    ],
)
def test_a_token_names_version_and_kind(token: str, kind: Kind, path: str) -> None:
    assert kind_of(token) == kind
    assert kind_of(token).path == path


@pytest.mark.parametrize(
    "token",
    [
        "kubernetes:helm.sh/v3:Release",
        "kubernetes:yaml/v2:ConfigFile",
        "kubernetes:apiextensions.k8s.io:CustomResource",
    ],
)
def test_a_type_that_the_sandbox_does_not_know_is_named(token: str) -> None:
    with pytest.raises(ProviderError, match=f"does not know the type {token}"):
        kind_of(token)

"""The `kubernetes` stand-in over a real API server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.provider_plugin import Plugin
from trainyard.sandbox.kubernetes.api import KubernetesApi
from trainyard.sandbox.kubernetes.control_planes import ControlPlane
from trainyard.sandbox.providers.kubernetes.servicer import KubernetesServicer


@pytest.fixture(scope="session")
def plugin(control_plane: ControlPlane) -> Plugin:
    return Plugin(KubernetesServicer(), kubeconfig=control_plane.kubeconfig.read_text())


@pytest.fixture
def administrator(control_plane: ControlPlane) -> Iterator[KubernetesApi]:
    api = control_plane.administrator()
    yield api
    api.close()


@pytest.fixture
def config_map() -> dict[str, Any]:
    """A program's inputs for a ConfigMap."""
    return {
        "immutable": False,
        "metadata": {"name": "settings", "namespace": "default"},
        "data": {"a": "1"},
    }

"""Objects of a real API server through the `kubernetes` stand-in, in addition to the recordings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.processes import until
from tests.support.provider_plugin import Plugin, RefusedError
from trainyard.sandbox.kubernetes.api import KubernetesApi
from trainyard.sandbox.kubernetes.control_planes import ControlPlane
from trainyard.sandbox.providers._protocol.values import UNKNOWN
from trainyard.sandbox.providers.kubernetes import cluster
from trainyard.sandbox.providers.kubernetes.servicer import KubernetesServicer

pytestmark = pytest.mark.kubernetes

NAMESPACES = "/api/v1/namespaces"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
WIDGET = "kubernetes:example.com/v1:Widget"


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry a read of a missing object without waiting for half a minute."""
    monkeypatch.setattr(cluster, "CREATION_PAUSES_SECONDS", (0, 0))


@pytest.fixture
def later(administrator: KubernetesApi) -> Iterator[dict[str, Any]]:
    """A ConfigMap in a missing namespace; the namespace does not outlive the test."""
    yield {"metadata": {"name": "settings", "namespace": "later"}, "data": {"a": "1"}}
    administrator.delete(f"{NAMESPACES}/later")
    until(lambda: "later" not in _namespaces(administrator), "the namespace being gone")


def _namespaces(administrator: KubernetesApi) -> list[str]:
    return [each["metadata"]["name"] for each in administrator.get(NAMESPACES)["items"]]


@pytest.mark.parametrize("call", ["foreseen", "create"])
def test_a_field_that_does_not_exist_is_refused_already_in_the_preview(
    plugin: Plugin, config_map: dict[str, Any], call: str
) -> None:
    with pytest.raises(RefusedError, match='unknown field "dataa"'):
        getattr(plugin, call)(CONFIG_MAP, {**config_map, "dataa": {}})


@pytest.mark.usefixtures("pauses")
def test_a_namespace_or_kind_that_never_comes_is_an_error(
    plugin: Plugin, config_map: dict[str, Any]
) -> None:
    nowhere = {**config_map, "metadata": {"name": "settings", "namespace": "nowhere"}}
    assert plugin.foreseen(CONFIG_MAP, nowhere)["data"] == {"a": "1"}
    with pytest.raises(RefusedError, match='namespaces "nowhere" not found'):
        plugin.create(CONFIG_MAP, nowhere)
    with pytest.raises(RefusedError, match=r'required CRDs .* no matches for kind "Widget"'):
        plugin.create(WIDGET, {"metadata": {"name": "w"}})


def test_a_namespace_that_comes_meanwhile_is_waited_for(
    plugin: Plugin,
    administrator: KubernetesApi,
    later: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def come(_self: object, _seconds: float = 0) -> None:
        administrator.post(NAMESPACES, {"metadata": {"name": "later"}})

    monkeypatch.setattr(cluster.Cluster, "pause", come)
    assert plugin.create(CONFIG_MAP, later).identifier == "later/settings"


def test_an_update_does_not_conflict_with_a_controller_that_changes_the_object_meanwhile(
    plugin: Plugin,
    administrator: KubernetesApi,
    config_map: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = plugin.create(CONFIG_MAP, config_map)
    path = f"{NAMESPACES}/default/configmaps/settings"
    take_over = cluster.Cluster.take_over

    def late(self: cluster.Cluster, kind: Any, found: dict[str, Any], manager: str) -> Any:
        administrator.patch(path, {"metadata": {"labels": {"seen": "yes"}}})
        return take_over(self, kind, found, manager)

    monkeypatch.setattr(cluster.Cluster, "take_over", late)
    try:
        plugin.update(CONFIG_MAP, made, {**config_map, "data": {"a": "2"}})
        left = administrator.get(path)
    finally:
        administrator.delete(path)
    assert (left["data"], left["metadata"]["labels"]) == ({"a": "2"}, {"seen": "yes"})


def test_before_there_is_a_cluster_a_preview_repeats_the_inputs(config_map: dict[str, Any]) -> None:
    unknown = Plugin(KubernetesServicer(), kubeconfig=UNKNOWN)
    assert unknown.foreseen(CONFIG_MAP, config_map)["data"] == {"a": "1"}
    with pytest.raises(RefusedError, match="not configured with a kubeconfig"):
        unknown.create(CONFIG_MAP, config_map)


def test_a_control_plane_that_ended_is_an_error_without_the_token(
    control_plane: ControlPlane, config_map: dict[str, Any]
) -> None:
    text = control_plane.kubeconfig.read_text().replace(
        control_plane.endpoint, "https://127.0.0.1:9"
    )
    nobody = Plugin(KubernetesServicer(), kubeconfig=text)
    with pytest.raises(
        RefusedError, match=r"cluster is unreachable: .* connection refused"
    ) as refusal:
        nobody.create(CONFIG_MAP, config_map)
    assert control_plane.admin_token not in str(refusal.value)

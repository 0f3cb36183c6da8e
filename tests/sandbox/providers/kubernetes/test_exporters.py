"""The exporters of Prometheus on a real API server."""

from __future__ import annotations

import pytest

from tests.eks.addons.test_registry import controllers
from tests.support.provider_plugin import Plugin
from trainyard.components.eks.addons.registry import SELF_MANAGED_ADDONS
from trainyard.sandbox.kubernetes.control_planes import ControlPlane

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"


@pytest.mark.parametrize(
    "name", ["node-exporter", "dcgm-exporter", "neuron-monitor", "efa-exporter"]
)
def test_the_next_update_finds_no_difference(
    plugin: Plugin, control_plane: ControlPlane, name: str
) -> None:
    del control_plane
    (controller,) = controllers(SELF_MANAGED_ADDONS[name])
    inputs = {"apiVersion": "apps/v1", **controller}
    made = plugin.create(DAEMON_SET, inputs)
    assert plugin.diff(DAEMON_SET, made, inputs) == ([], [])
    found = plugin.read(DAEMON_SET, made)
    assert found is not None
    assert plugin.diff(DAEMON_SET, found, inputs) == ([], [])
    plugin.delete(DAEMON_SET, made)

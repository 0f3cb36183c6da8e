"""The inventory shows only objects that users created."""

from __future__ import annotations

import pytest

from tests.support.kubernetes import device_plugin
from tests.support.processes import until
from trainyard.sandbox.kubernetes.inventory import lines

pytestmark = pytest.mark.kubernetes


def test_an_empty_cluster_has_no_line_and_a_made_object_has_one(control_plane):
    assert lines(control_plane.kubeconfig) == []

    api = control_plane.administrator()
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}}
    api.post("/api/v1/nodes", node)
    api.post("/apis/apps/v1/namespaces/kube-system/daemonsets", device_plugin("efa"))
    api.post("/api/v1/namespaces/default/secrets", {"metadata": {"name": "token"}})
    until(lambda: api.get("/api/v1/pods")["items"], "the DaemonSet's pod")
    assert lines(control_plane.kubeconfig) == [
        "DaemonSet kube-system/efa-device-plugin",
        "Node node-1",
        "Secret default/token",
    ]

    api.delete("/api/v1/namespaces/default/secrets/token")
    api.delete("/apis/apps/v1/namespaces/kube-system/daemonsets/efa-device-plugin")
    api.delete("/api/v1/nodes/node-1")
    until(lambda: lines(control_plane.kubeconfig) == [], "everything being gone")

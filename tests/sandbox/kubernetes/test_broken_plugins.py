"""A device plugin that crashes by the schedule of faults, and a node that does not join by it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tests.sandbox.kubernetes.support.joined_cluster import JoinedCluster, SandboxAccountDouble
from tests.support.kubernetes import device_plugin
from tests.support.processes import spawn, until
from trainyard.diagnosis.rollout import observe
from trainyard.sandbox.faults.schedule import FAULTS, parse_schedule
from trainyard.sandbox.kubernetes.control_planes import ControlPlanes
from trainyard.sandbox.kubernetes.device_plugins import NVIDIA_GPU
from trainyard.sandbox.kubernetes.nodes import NodeSimulator

pytestmark = pytest.mark.kubernetes

ROLE = "arn:aws:iam::123456789012:role/node"
PLUGIN = "nvidia-device-plugin"


@pytest.fixture(scope="module")
def cluster(kubernetes_programs, tmp_path_factory) -> Iterator[JoinedCluster]:
    stop = threading.Event()
    with SandboxAccountDouble() as account:
        planes = ControlPlanes(
            tmp_path_factory.mktemp("clusters"), kubernetes_programs, account.endpoint, spawn
        )
        joined = JoinedCluster(account, planes.create("p5-cb"))
        simulator = NodeSimulator(account, planes)
        thread = threading.Thread(target=simulator.run, args=(stop,))
        thread.start()
        try:
            yield joined
        finally:
            FAULTS.use([])
            stop.set()
            thread.join()
            planes.stop_all()


def test_a_plugin_crashes_until_it_is_mended_and_says_so(cluster) -> None:
    """The node has no device, the pod has the reason, and the check of `up` detects both."""
    cluster.allow(ROLE)
    FAULTS.use(parse_schedule([{"happens": "device-plugin-never-ready", "plugin": PLUGIN}]))
    instance = cluster.launch(31, ROLE)
    until(lambda: cluster.is_ready(instance), "the node")
    cluster.api.post("/apis/apps/v1/namespaces/kube-system/daemonsets", device_plugin("nvidia"))

    def seen():
        return observe(cluster.plane.kubeconfig.read_text(encoding="utf-8"))

    def reasons() -> list[str]:
        return [pod.reason for pod in seen().pods.get(PLUGIN, ())]

    until(lambda: any("CrashLoopBackOff" in each for each in reasons()), "the crash")
    assert "its last run ended with 1" in reasons()[0]
    assert PLUGIN not in seen().running_on
    assert seen().nodes[0].devices == {}

    FAULTS.use([])
    until(lambda: PLUGIN in seen().running_on, "the plugin")
    assert "leaseTransitions" not in cluster.lease(instance), "kwok has waited for its own lease"
    until(lambda: seen().nodes[0].devices.get(NVIDIA_GPU) == "8", "the GPUs")
    assert seen().nodes[0].instance_id == instance.instance_id
    cluster.api.delete(f"/apis/apps/v1/namespaces/kube-system/daemonsets/{PLUGIN}")
    cluster.terminate(instance)


def test_a_node_of_the_group_stays_outside_until_the_schedule_ends(cluster, caplog) -> None:
    cluster.allow(ROLE)
    FAULTS.use(parse_schedule([{"happens": "node-never-joins", "node_group": "p5"}]))
    group = {"aws:autoscaling:groupName": "p5-cb-p5-nodes-0c5d"}
    instance = cluster.launch(32, ROLE, tags=group)
    other = cluster.launch(33, ROLE)
    until(lambda: cluster.is_ready(other), "a node of no such group")
    assert cluster.node(instance) is None
    assert "cannot join: the schedule of faults says so" in caplog.text

    FAULTS.use([])
    until(lambda: cluster.is_ready(instance), "the node")
    for each in (instance, other):
        cluster.terminate(each)

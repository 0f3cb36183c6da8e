"""Nodes and pods as the API server has them, and what a repair asks of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from kubernetes import client
from kubernetes.client import ApiException

from tests.support.bad_nodes import NOW, node
from trainyard.components.eks.label_plan import FAILURE_LABEL, RESULT_LABEL, TIME_LABEL
from trainyard.repair.decision import Verification
from trainyard.repair.nodes import BEGUN, Nodes, RunningPod

POD = RunningPod(namespace="default", name="train-0", uid="u", owner="Job train")


class Core:
    """CoreV1Api with the objects of a test."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.pods: list[Any] = []
        self.eviction_status: int | None = None
        self.asked: list[tuple[Any, ...]] = []

    def list_node(self) -> Any:
        return SimpleNamespace(items=self.nodes)

    def list_pod_for_all_namespaces(self, field_selector: str) -> Any:
        self.asked.append((field_selector,))
        return SimpleNamespace(items=self.pods)

    def patch_node(self, *arguments: Any) -> None:
        self.asked.append(arguments)

    def create_namespaced_pod_eviction(self, *arguments: Any) -> None:
        self.asked.append(arguments)
        if self.eviction_status:
            raise ApiException(status=self.eviction_status)

    def create_namespaced_event(self, *arguments: Any) -> None:
        self.asked.append(arguments)


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> Core:
    made = Core()
    monkeypatch.setattr(client, "CoreV1Api", lambda _: made)
    return made


@pytest.fixture
def nodes(core: Core) -> Nodes:
    api: Any = None
    return Nodes(api)


def kubernetes_node(**annotations: str) -> client.V1Node:
    ready = client.V1NodeCondition(type="Ready", status="True", last_transition_time=NOW)
    lost = client.V1NodeCondition(
        type="AcceleratedHardwareReady",
        status="False",
        reason="NvidiaXID79Error",
        last_transition_time=NOW.replace(hour=11),
    )
    return client.V1Node(
        metadata=client.V1ObjectMeta(name="n1", uid="uid-1", annotations=annotations),
        spec=client.V1NodeSpec(provider_id="aws:///us-west-2b/i-1"),
        status=client.V1NodeStatus(conditions=[ready, lost]),
    )


def pod(name: str, *, kind: str = "", phase: str = "Running", **annotations: str) -> client.V1Pod:
    owner = client.V1OwnerReference(
        api_version="v1", kind=kind, name="train", uid="x", controller=True
    )
    return client.V1Pod(
        metadata=client.V1ObjectMeta(
            name=name,
            namespace="default",
            uid="u",
            annotations=annotations,
            owner_references=[owner] if kind else None,
        ),
        status=client.V1PodStatus(phase=phase),
    )


def test_a_node_has_its_instance_and_its_health(core: Core, nodes: Nodes) -> None:
    core.nodes = [kubernetes_node()]
    (found,) = nodes.all(now=NOW)
    assert (found.name, found.uid, found.instance_id) == ("n1", "uid-1", "i-1")
    assert found.is_ready
    assert not found.has_begun
    assert found.health.bad_because.endswith("is False for 1 h 0 min (NvidiaXID79Error)")


def test_the_labels_of_verify_are_read(core: Core, nodes: Nodes) -> None:
    tested = kubernetes_node()
    tested.metadata.labels = {
        RESULT_LABEL: "failed",
        TIME_LABEL: "20261125T140301Z",
        FAILURE_LABEL: "bandwidth.pairs",
    }
    core.nodes = [tested, kubernetes_node()]
    assert [each.verification for each in nodes.all(now=NOW)] == [
        Verification(result="failed", at="20261125T140301Z", failures="bandwidth, pairs"),
        Verification(),
    ]


def test_the_annotation_tells_that_a_repair_has_begun(core: Core, nodes: Nodes) -> None:
    core.nodes = [kubernetes_node(**{BEGUN: "x"})]
    assert nodes.all(now=NOW)[0].has_begun
    nodes.begin("n1", NOW)
    name, patch = core.asked[-1]
    assert name == "n1"
    assert patch["spec"] == {"unschedulable": True}
    assert patch["metadata"]["annotations"] == {BEGUN: "2026-11-25T12:00:00+00:00"}


@pytest.mark.parametrize("status", ["False", "Unknown"])
def test_a_node_is_not_ready_because_of_another_condition(
    core: Core, nodes: Nodes, status: str
) -> None:
    new = kubernetes_node()
    ready, other = new.status.conditions
    ready.status, other.status = status, "True"
    core.nodes = [new]
    assert not nodes.all(now=NOW)[0].is_ready


def test_a_node_without_a_status_is_not_ready(core: Core, nodes: Nodes) -> None:
    new = kubernetes_node()
    new.status = None
    core.nodes = [new]
    assert not nodes.all(now=NOW)[0].is_ready


def test_a_drain_leaves_the_pods_of_daemon_sets_and_of_the_kubelet(
    core: Core, nodes: Nodes
) -> None:
    core.pods = [
        pod("train-0", kind="Job"),
        pod("alone"),
        pod("plugin", kind="DaemonSet"),
        pod("static", **{"kubernetes.io/config.mirror": "x"}),
        pod("done", kind="Job", phase="Succeeded"),
        pod("crashed", kind="Job", phase="Failed"),
    ]
    assert [each.described for each in nodes.pods("n1")] == [
        "default/train-0, of Job train",
        "default/alone, which nothing starts again",
    ]
    assert core.asked == [("spec.nodeName=n1",)]


def test_the_owner_of_a_pod_is_its_controller(core: Core, nodes: Nodes) -> None:
    """A pod can have other owners, with which it is deleted.

    https://kubernetes.io/docs/concepts/architecture/garbage-collection/#owners-dependents
    """
    owned = pod("train-0", kind="DaemonSet")
    owned.metadata.owner_references[0].controller = None
    core.pods = [owned]
    assert [each.owner for each in nodes.pods("n1")] == [""]


def test_an_eviction_is_of_this_pod_only(core: Core, nodes: Nodes) -> None:
    assert not nodes.evict(POD)
    name, namespace, eviction = core.asked[-1]
    assert (name, namespace) == ("train-0", "default")
    assert eviction.delete_options.preconditions.uid == "u"


@pytest.mark.parametrize(("status", "words"), [(404, ""), (409, ""), (429, "Budget")])
def test_the_answers_to_an_eviction(core: Core, nodes: Nodes, status: int, words: str) -> None:
    core.eviction_status = status
    assert words in nodes.evict(POD)
    assert bool(words) == bool(nodes.evict(POD))


def test_other_refusals_of_an_eviction_are_errors(core: Core, nodes: Nodes) -> None:
    core.eviction_status = 403
    with pytest.raises(ApiException):
        nodes.evict(POD)


@pytest.mark.parametrize(("bad", "kind"), [(True, "Warning"), (False, "Normal")])
def test_an_event_is_about_the_node(core: Core, nodes: Nodes, bad: bool, kind: str) -> None:
    nodes.record(node(1), "RepairBegan", "cordoned", NOW, bad=bad)
    namespace, event = core.asked[-1]
    assert namespace == "default"
    assert event["involvedObject"] == {"kind": "Node", "name": "n1", "uid": "uid-1"}
    assert (event["type"], event["reason"], event["message"]) == (kind, "RepairBegan", "cordoned")

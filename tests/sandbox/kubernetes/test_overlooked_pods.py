"""kwok gets another event for a pod that it has missed."""

from __future__ import annotations

from typing import Any

import pytest

from trainyard.sandbox.kubernetes.api import ApiError
from trainyard.sandbox.kubernetes.container_logs import ContainerLogs
from trainyard.sandbox.kubernetes.nodes import ClusterNodes
from trainyard.sandbox.kubernetes.pods import (
    ANNOTATION,
    MOST_DOUBLINGS,
    TIMEOUT_SECONDS,
    OverlookedPods,
    reported_again,
)

NODE = "ip-10-0-1-2.us-west-2.compute.internal"


def pod(name: str = "agent", *, node: str | None = NODE, **status: Any) -> dict[str, Any]:
    return {
        "metadata": {
            "name": name,
            "namespace": "kube-system",
            "uid": f"uid-of-{name}",
            "resourceVersion": "1",
        },
        "spec": {"nodeName": node, "containers": []} if node else {"containers": []},
        "status": {"phase": "Pending", **status},
    }


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def names(found: Any) -> list[str]:
    return [each["metadata"]["name"] for each, _ in found]


def test_a_pod_is_looked_for_only_when_kwok_has_had_its_time() -> None:
    clock = Clock()
    waiting = OverlookedPods(clock)
    assert waiting.due([pod()], {NODE}) == []
    clock.now += TIMEOUT_SECONDS / 2
    assert waiting.due([pod()], {NODE}) == []
    clock.now += TIMEOUT_SECONDS / 2
    assert names(waiting.due([pod(), pod("younger")], {NODE})) == ["agent"]
    assert waiting.due([pod()], {NODE}) == []


def test_it_is_looked_for_again_ever_more_rarely_until_it_runs() -> None:
    """kwok may get the lease of the node only after any number of attempts."""
    clock = Clock()
    waiting = OverlookedPods(clock)
    waiting.due([pod()], {NODE})
    times = [round(TIMEOUT_SECONDS * 2 ** min(n, MOST_DOUBLINGS)) for n in range(2000)]
    for attempt, seconds in enumerate(times, start=1):
        clock.now += seconds - 1
        assert waiting.due([pod()], {NODE}) == []
        clock.now += 1
        assert waiting.due([pod()], {NODE}) == [(pod(), attempt)]


def test_a_deleted_pod_is_looked_for_too() -> None:
    clock = Clock()
    waiting = OverlookedPods(clock)
    deleted = pod(phase="Running", startTime="2026-11-22T00:00:00Z")
    deleted["metadata"]["deletionTimestamp"] = "2026-11-22T00:00:01Z"
    waiting.due([deleted], {NODE})
    clock.now += TIMEOUT_SECONDS
    assert names(waiting.due([deleted], {NODE})) == ["agent"]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(pod(node=None), id="not-bound"),
        pytest.param(pod(node="elsewhere"), id="its-node-has-not-joined"),
        pytest.param(pod(phase="Running"), id="running"),
        pytest.param(pod(startTime="2026-11-22T00:00:00Z"), id="somebody-has-begun"),
    ],
)
def test_others_are_left_alone(other: dict[str, Any]) -> None:
    clock = Clock()
    waiting = OverlookedPods(clock)
    waiting.due([other], {NODE})
    clock.now += TIMEOUT_SECONDS
    assert waiting.due([other], {NODE}) == []


def test_a_pod_that_runs_meanwhile_is_forgotten() -> None:
    clock = Clock()
    waiting = OverlookedPods(clock)
    waiting.due([pod()], {NODE})
    waiting.due([pod(phase="Running")], {NODE})
    clock.now += TIMEOUT_SECONDS
    assert waiting.due([pod()], {NODE}) == []


class Administrator:
    """An API server with one pod, which kwok runs only after an event."""

    def __init__(self) -> None:
        self.pods, self.patched = [pod()], []

    def get(self, _path: str, **_query: str) -> dict[str, Any]:
        return {"items": self.pods}

    def patch(self, path: str, body: dict[str, Any]) -> None:
        self.patched.append((path, body))
        if not self.pods:
            raise ApiError(404, "gone")
        self.pods = [pod(phase="Running", startTime="now")]

    def close(self) -> None:
        pass


class ControlPlane:
    name = "p5-cb"

    def __init__(self) -> None:
        self.api = Administrator()
        self.logs = ContainerLogs()

    def administrator(self) -> Administrator:
        return self.api


class Joined:
    instance_id, node_name, joined, registered = "i-0", NODE, True, True
    devices: dict[str, int] = {}  # noqa: RUF012 - of a class with one object

    def try_to_join(self) -> None: ...
    def offer_devices(self, _running: Any) -> None: ...
    def heartbeat(self) -> None: ...
    def close(self) -> None: ...


@pytest.fixture
def plane(monkeypatch: pytest.MonkeyPatch) -> ControlPlane:
    """A control plane whose nodes act at once."""
    monkeypatch.setattr("trainyard.sandbox.kubernetes.pods.TIMEOUT_SECONDS", 0.0)
    return ControlPlane()


def terminate(instance_id: str) -> None:
    """No node is lost in these tests."""
    raise AssertionError(instance_id)


def test_the_nodes_of_a_cluster_make_the_event(plane: Any) -> None:
    nodes, kubelet = ClusterNodes(plane, terminate), Joined()
    nodes.add(kubelet)  # pyright: ignore[reportArgumentType]
    for _ in range(3):
        nodes.step()
    (patched,) = plane.api.patched
    assert patched == (
        "/api/v1/namespaces/kube-system/pods/agent",
        {"metadata": {"annotations": {ANNOTATION: "1"}}},
    )


def test_a_pod_that_goes_at_that_moment_is_no_failure(plane: Any) -> None:
    nodes, kubelet = ClusterNodes(plane, terminate), Joined()
    nodes.add(kubelet)  # pyright: ignore[reportArgumentType]
    listed = plane.api.pods
    plane.api.get = lambda _path, **_query: {"items": listed}
    plane.api.pods = []
    nodes.step()
    assert len(plane.api.patched) == 1


def running(*, ready: str, containers: tuple[bool, ...] = (True,), phase: str = "Running") -> Any:
    return pod(
        phase=phase,
        conditions=[{"type": "Ready", "status": ready}],
        containerStatuses=[{"ready": each} for each in containers],
    )


def test_a_pod_whose_readiness_its_node_took_away_is_reported_ready_again() -> None:
    assert reported_again(running(ready="False")) == {
        "status": {"conditions": [{"type": "Ready", "status": "True"}]}
    }


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(running(ready="True"), id="ready"),
        pytest.param(running(ready="False", containers=(True, False)), id="a container crashes"),
        pytest.param(running(ready="False", containers=()), id="no container has begun"),
        pytest.param(running(ready="False", phase="Succeeded"), id="complete"),
        pytest.param(pod(), id="pending"),
    ],
)
def test_the_status_of_every_other_pod_is_left_as_it_is(other: Any) -> None:
    assert reported_again(other) is None

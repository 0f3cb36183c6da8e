"""The steps in which plugins fail and recover, with an API server that is silent at times."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from trainyard.sandbox.faults.kinds import broken_plugins, count_crash
from trainyard.sandbox.faults.schedule import InForce, parse_schedule
from trainyard.sandbox.kubernetes.api import ApiUnreachableError
from trainyard.sandbox.kubernetes.device_plugins import BrokenPlugins

PLUGIN = "nvidia-device-plugin-ds"


class Cluster:
    """A cluster with one pod of the plugin, and a simulator that runs its pods.

    Attributes:
        silent: Whether the API server gives no answer.
        left_alone: The pods that it does not run.
    """

    name = "p5-cb"

    def __init__(self) -> None:
        self.silent = False
        self.left_alone: Collection[str] = ()
        self.pod: dict[str, Any] | None = {
            "metadata": {"name": f"{PLUGIN}-x", "labels": {"name": PLUGIN}},
            "spec": {"nodeName": "ip-10-0-0-1", "containers": [{"name": "c", "image": "i"}]},
        }

    def administrator(self) -> Cluster:
        return self

    def leave_alone(self, name: str, pods: Collection[str]) -> None:
        self.left_alone = pods

    def get(self, _path: str, labelSelector: str) -> dict[str, Any]:  # noqa: N803 - the API's name
        if self.silent:
            raise ApiUnreachableError("nobody answers")
        is_meant = self.pod is not None and PLUGIN in labelSelector
        return {"items": [self.pod] if is_meant else []}

    def patch(self, _path: str, body: dict[str, Any], _kind: str) -> None:
        assert self.pod is not None
        self.pod |= body

    def delete(self, _path: str) -> None:
        self.pod = None


@pytest.fixture
def cluster() -> Any:
    return Cluster()


def test_a_mended_plugin_is_made_anew_although_the_api_was_silent_just_then(cluster: Any) -> None:
    plugins = BrokenPlugins(cluster, cluster)
    plugins.step([PLUGIN])
    cluster.silent = True
    with pytest.raises(ApiUnreachableError):
        plugins.step([])
    assert cluster.pod is not None
    cluster.silent = False
    plugins.step([])
    assert (cluster.pod, cluster.left_alone) == (None, [])


def test_a_plugin_that_breaks_again_before_it_was_mended_stays_broken(cluster: Any) -> None:
    plugins = BrokenPlugins(cluster, cluster)
    plugins.step([PLUGIN])
    cluster.silent = True
    for broken in ([], [PLUGIN]):
        with pytest.raises(ApiUnreachableError):
            plugins.step(broken)
    cluster.silent = False
    assert plugins.step([PLUGIN]) == []
    assert cluster.pod is not None


def test_each_pod_that_crashes_counts_once(cluster: Any) -> None:
    faults = InForce()
    faults.use(parse_schedule([{"happens": "device-plugin-never-ready", "plugin": PLUGIN}]))
    plugins = BrokenPlugins(cluster, cluster)
    for _ in range(3):
        for crashed in plugins.step(broken_plugins(faults)):
            count_crash(faults, crashed)
    assert [each["happened"] for each in faults.described()] == [1]

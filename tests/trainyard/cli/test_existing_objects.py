"""An update that would create objects that the cluster already has is refused before it begins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.steps import (
    API,
    CLUSTER,
    PLUGIN,
    STACK,
    created,
    event,
    steps,
)
from trainyard.cli import options
from trainyard.components.eks.lookup import ClusterUnreadableError
from trainyard.deployment.guarded_update import ExistingObjects, Get
from trainyard.workspace.target import Target

HAS_CLUSTER = event("same", f"{STACK}::{CLUSTER}::c", CLUSTER, old={"id": "p5-cb"})


def objects(get: Get) -> ExistingObjects:
    """Return the objects of the cluster `p5-cb`, whose API server answers with `get`."""
    target = options.target("p5-cb", path=None, sandbox=False)

    @contextmanager
    def reach(of: Target, cluster: str) -> Iterator[Get]:
        assert (of, cluster) == (target, "p5-cb")
        yield get

    return ExistingObjects(target, reach=reach)


class ApiServer:
    """A cluster with a device plugin."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, path: str) -> Any:
        self.asked.append(path)
        return API.get(path)


def test_the_object_is_named_with_the_commands_that_remove_and_adopt_it() -> None:
    found = objects(server := ApiServer())
    assert found.look(steps(HAS_CLUSTER, created(PLUGIN)))
    said = found.explanation()
    assert (
        "DaemonSet kube-system/nvidia-device-plugin-daemonset (p5-cb-plugins-nvidia-daemon" in said
    )
    assert "delete daemonset.v1.apps --namespace kube-system nvidia-device-plugin-daemonset" in said
    assert "or import it:  pulumi import --stack p5-cb --parent" in said
    assert said.endswith("then continue:  ./trainyard up p5-cb")
    assert server.asked


def test_what_was_asked_for_once_is_not_asked_for_again() -> None:
    found = objects(server := ApiServer())
    assert found.look(steps(HAS_CLUSTER, created(PLUGIN)))
    before = len(server.asked)
    assert found.look(steps(HAS_CLUSTER, created(PLUGIN)))
    assert (len(server.asked), len(found.found)) == (before, 1)


def test_a_cluster_that_the_update_makes_is_not_asked() -> None:
    server = ApiServer()
    new = event("create", f"{STACK}::{CLUSTER}::c", CLUSTER, new={})
    assert not objects(server).look(steps(new, created(PLUGIN)))
    assert server.asked == []


@pytest.mark.parametrize("answer", [[], {"resources": [{}]}, {"resources": ["daemonsets"]}])
def test_an_answer_of_another_shape_is_none(
    capsys: pytest.CaptureFixture[str], answer: Any
) -> None:
    assert not objects(lambda _: answer or [1]).look(steps(HAS_CLUSTER, created(PLUGIN)))
    assert "its response is invalid" in capsys.readouterr().err


def test_a_cluster_that_does_not_answer_does_not_stop_the_update(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def silent(_: str) -> None:
        raise ClusterUnreadableError("https://endpoint cannot be used from here (timed out)")

    assert not objects(silent).look(steps(HAS_CLUSTER, created(PLUGIN)))
    assert "objects of the same names: https://endpoint cannot be used" in capsys.readouterr().err

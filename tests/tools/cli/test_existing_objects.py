"""An update that would create objects that the cluster already has is refused before it begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.eks.cluster_access import ClusterUnreadableError
from tests.support.steps import (
    API,
    CLUSTER,
    PLUGIN,
    STACK,
    created,
    event,
    steps,
)
from tools.cli import options
from tools.cli.existing_objects import ExistingObjects

HAS_CLUSTER = event("same", f"{STACK}::{CLUSTER}::c", CLUSTER, old={"id": "p5-cb"})


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Answer like a cluster with a device plugin, and record the requested paths."""
    paths: list[str] = []

    def get(_reader: Any, cluster: Any, path: str) -> Any:
        assert cluster["name"] == "p5-cb"
        paths.append(path)
        return API.get(path)

    class Eks:
        def describe_cluster(self, name: str) -> Any:
            return {"cluster": {"name": name, "status": "ACTIVE"}}

    monkeypatch.setattr("tools.cli.existing_objects.get", get)
    monkeypatch.setattr("components.account.lookup.AccountReader.eks", Eks())
    monkeypatch.setattr("components.account.lookup.understood", lambda _call, answer, _do: answer)
    monkeypatch.setattr("tools.cli.session.require_credentials", lambda: None)
    monkeypatch.setattr("tools.workspace.stack_files.StackFile.own_files", tmp_path)
    return paths


def objects() -> ExistingObjects:
    return ExistingObjects(options.stack_file("p5-cb", path=None, sandbox=False), sandbox=False)


def test_the_object_is_named_with_the_commands_that_remove_and_adopt_it(asked: list[str]) -> None:
    found = objects()
    assert found.look(steps(HAS_CLUSTER, created(PLUGIN)))
    said = found.explanation()
    assert (
        "DaemonSet kube-system/nvidia-device-plugin-daemonset (p5-cb-plugins-nvidia-daemon" in said
    )
    assert "delete daemonset.v1.apps --namespace kube-system nvidia-device-plugin-daemonset" in said
    assert "or import it:  pulumi import --stack p5-cb --parent" in said
    assert said.endswith("then continue:  ./trainyard up p5-cb")
    assert asked


def test_what_was_asked_for_once_is_not_asked_for_again(asked: list[str]) -> None:
    found = objects()
    assert found.look(steps(HAS_CLUSTER, created(PLUGIN)))
    before = len(asked)
    assert found.look(steps(HAS_CLUSTER, created(PLUGIN)))
    assert (len(asked), len(found.found)) == (before, 1)


def test_a_cluster_that_the_update_makes_is_not_asked(asked: list[str]) -> None:
    new = event("create", f"{STACK}::{CLUSTER}::c", CLUSTER, new={})
    assert not objects().look(steps(new, created(PLUGIN)))
    assert asked == []


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("answer", [[], {"resources": [{}]}, {"resources": ["daemonsets"]}])
def test_an_answer_of_another_shape_is_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], answer: Any
) -> None:
    monkeypatch.setattr("tools.cli.existing_objects.get", lambda *_: answer or [1])
    assert not objects().look(steps(HAS_CLUSTER, created(PLUGIN)))
    assert "its response is invalid" in capsys.readouterr().err


@pytest.mark.usefixtures("asked")
def test_a_cluster_that_does_not_answer_does_not_stop_the_update(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def silent(*_: Any) -> None:
        raise ClusterUnreadableError("https://endpoint cannot be used from here (timed out)")

    monkeypatch.setattr("tools.cli.existing_objects.get", silent)
    assert not objects().look(steps(HAS_CLUSTER, created(PLUGIN)))
    assert "objects of the same names: https://endpoint cannot be used" in capsys.readouterr().err

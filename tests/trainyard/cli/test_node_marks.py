"""The labels and taints of a node after a verification."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from kubernetes import client
from kubernetes.client import ApiException

from trainyard.components.eks.label_plan import UNVERIFIED
from trainyard.verify.node_marks import Mark, is_closed, mark_node, verification_of

AT = datetime(2026, 11, 25, 14, 3, 1, tzinfo=UTC)
GPU = client.V1Taint(key="nvidia.com/gpu", value="true", effect="NoSchedule")
CLOSED = client.V1Taint(**UNVERIFIED.model_dump())
PASSED = Mark(node="n", passed=True)
FAILED = Mark(node="n", passed=False, failures=("bandwidth", "pairs"))


class Api:
    """One node; refuses the first patches with a status."""

    def __init__(self, *taints: client.V1Taint, refused: int = 0, status: int = 409) -> None:
        self.taints, self.refused, self.status = list(taints), refused, status
        self.patches: list[dict[str, Any]] = []

    def read_node(self, name: str) -> SimpleNamespace:
        assert name == "n"
        metadata = SimpleNamespace(resource_version=str(len(self.patches)))
        return SimpleNamespace(metadata=metadata, spec=SimpleNamespace(taints=self.taints or None))

    def patch_node(self, _name: str, patch: dict[str, Any]) -> None:
        self.patches.append(patch)
        if len(self.patches) <= self.refused:
            raise ApiException(status=self.status)


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch):
    """Mark the node, and return its last patch."""

    def mark(api: Api, what: Mark, *, required: bool = True) -> dict[str, Any]:
        monkeypatch.setattr(client, "CoreV1Api", lambda _api: api)
        assert mark_node(client.ApiClient(), what, at=AT, required=required)
        return api.patches[-1]

    return mark


@pytest.mark.parametrize(
    ("before", "mark", "required", "after"),
    [
        pytest.param([GPU, CLOSED], PASSED, True, {GPU.key}, id="opened"),
        pytest.param([CLOSED], PASSED, True, set(), id="opened-without-other-taints"),
        pytest.param([CLOSED], PASSED, False, set(), id="opened-when-it-is-no-longer-required"),
        pytest.param([GPU, CLOSED], FAILED, True, {GPU.key, CLOSED.key}, id="stays-closed"),
        pytest.param([GPU], FAILED, True, {GPU.key, CLOSED.key}, id="closed-again"),
        pytest.param([GPU], FAILED, False, {GPU.key}, id="only-labelled"),
    ],
)
def test_a_node_is_open_for_jobs_when_it_has_passed(
    marked, before: list[client.V1Taint], mark: Mark, required: bool, after: set[str]
) -> None:
    patch = marked(Api(*before), mark, required=required)
    assert {taint["key"] for taint in patch["spec"]["taints"] or []} == after


def test_the_labels_are_the_result_the_time_and_the_failed_stages(marked) -> None:
    labels = marked(Api(), FAILED)["metadata"]["labels"]
    assert labels == {
        "trainyard.dev/verification": "failed",
        "trainyard.dev/verification-time": "20261125T140301Z",
        "trainyard.dev/verification-failure": "bandwidth.pairs",
    }
    assert verification_of(labels) == "verify failed (bandwidth, pairs) at 20261125T140301Z"
    removed = marked(Api(), PASSED)["metadata"]["labels"]
    assert removed["trainyard.dev/verification-failure"] is None
    assert verification_of({}) == ""


def test_many_failed_stages_fit_into_a_label(marked) -> None:
    mark = Mark(node="n", passed=False, failures=("bandwidth",) * 9)
    value = marked(Api(), mark)["metadata"]["labels"]["trainyard.dev/verification-failure"]
    assert len(value) <= 63
    assert value[-1].isalnum()


def test_a_node_that_changes_meanwhile_is_read_again(marked) -> None:
    patch = marked(Api(CLOSED, refused=2), PASSED)
    assert patch["metadata"]["resourceVersion"] == "2"


@pytest.mark.parametrize("status", [403, 409])
def test_an_error_of_the_api_server_is_not_hidden(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr(client, "CoreV1Api", lambda _api: Api(refused=99, status=status))
    with pytest.raises(ApiException):
        mark_node(client.ApiClient(), PASSED, at=AT, required=True)


def test_a_node_that_has_left_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "CoreV1Api", lambda _api: Api(refused=1, status=404))
    assert not mark_node(client.ApiClient(), PASSED, at=AT, required=True)


def test_a_node_is_closed_by_its_taint() -> None:
    assert is_closed([GPU, CLOSED])
    assert not is_closed([GPU])

"""Deadlines of Jobs pass when the clock of the sandbox is advanced."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from trainyard.sandbox.aws.clock import CLOCK
from trainyard.sandbox.kubernetes.api import ApiUnreachableError
from trainyard.sandbox.kubernetes.pods import JobDeadlines

STARTED: dict[str, Any] = {"startTime": "2026-11-25T12:00:00Z"}
ENDED = {**STARTED, "conditions": [{"type": "Failed", "status": "True"}]}


class Cluster:
    """An API server with Jobs.

    Attributes:
        lost: Number of the request that gets no answer, from 1; 0 for none.
    """

    def __init__(self) -> None:
        self.jobs = dict[str, dict[str, Any]]()
        self.lost = 0
        administrator: Any = self
        self.deadlines = JobDeadlines(administrator)

    def create(self, name: str, seconds: int | None = 3600, **status: Any) -> None:
        self.jobs[f"/apis/batch/v1/namespaces/default/jobs/{name}"] = {
            "metadata": {"name": name, "namespace": "default"},
            "spec": {} if seconds is None else {"activeDeadlineSeconds": seconds},
            "status": status or STARTED,
        }

    def seconds(self) -> dict[str, int | None]:
        return {
            path.rpartition("/")[2]: each["spec"].get("activeDeadlineSeconds")
            for path, each in self.jobs.items()
        }

    def get(self, path: str) -> dict[str, Any]:
        assert path == "/apis/batch/v1/jobs"
        self._answer()
        return {"items": [*self.jobs.values()]}

    def patch(self, path: str, body: dict[str, Any]) -> None:
        self._answer()
        self.jobs[path]["spec"] |= body["spec"]

    def _answer(self) -> None:
        self.lost -= 1
        if self.lost == 0:
            raise ApiUnreachableError("no answer")


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A cluster that begins when the clock is ahead already."""
    CLOCK.advance(timedelta(hours=49))
    yield Cluster()
    CLOCK.reset()


def test_the_deadline_of_a_job_that_runs_is_shorter_by_the_time_that_passes(
    cluster: Cluster,
) -> None:
    cluster.create("train")
    cluster.create("ends", 60)
    cluster.deadlines.step()
    assert cluster.seconds() == {"train": 3600, "ends": 60}
    CLOCK.advance(timedelta(minutes=10))
    for _ in range(2):
        cluster.deadlines.step()
    assert cluster.seconds() == {"train": 3000, "ends": 0}


@pytest.mark.parametrize(
    ("seconds", "status"),
    [(None, STARTED), (3600, {"active": 0}), (3600, ENDED)],
    ids=["no limit", "not started", "ended"],
)
def test_other_jobs_stay_as_they_are(
    cluster: Cluster, seconds: int | None, status: dict[str, Any]
) -> None:
    cluster.create("train", seconds, **status)
    CLOCK.advance(timedelta(minutes=10))
    cluster.deadlines.step()
    assert cluster.seconds() == {"train": seconds}


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_no_deadline_is_shortened_twice(cluster: Cluster, lost: int) -> None:
    """The first request lists the Jobs, the others change a deadline each."""
    cluster.create("train")
    cluster.create("other")
    CLOCK.advance(timedelta(minutes=10))
    cluster.lost = lost
    with pytest.raises(ApiUnreachableError):
        cluster.deadlines.step()
    cluster.deadlines.step()
    assert cluster.seconds() == {"train": 3000, "other": 3000}

"""`logs STACK JOB`: which job and node is meant, and its log in EKS and AWS Batch."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from kubernetes import client
from kubernetes.client import ApiException

from tests.support.workload_api import condition, workload
from trainyard.cli import failures
from trainyard.schedulers.batch.jobs import batch_log
from trainyard.schedulers.job_wait import JobWait
from trainyard.schedulers.kubernetes.jobs import kubernetes_log
from trainyard.schedulers.listed_job import ListedJob
from trainyard.schedulers.log_request import LogRequest, newest_of

INDEX = "batch.kubernetes.io/job-completion-index"


def listed(job_id: str, *, nodes: int = 2) -> ListedJob:
    return ListedJob(
        id=job_id,
        name="train",
        state="Running",
        nodes=nodes,
        started=None,
        ended=None,
        has_ended=False,
    )


@pytest.mark.parametrize(
    ("asked", "nodes"),
    [
        ({}, [0]),
        ({"node": 3}, [3]),
        ({"rank": 7}, [0]),
        ({"rank": 8}, [1]),
        ({"every_node": True}, [0, 1, 2, 3]),
    ],
)
def test_a_process_has_the_log_of_its_node(asked: dict[str, Any], nodes: list[int]) -> None:
    assert LogRequest(job="train", **asked).nodes_of(4, processes=8) == nodes


@pytest.mark.parametrize(
    ("asked", "processes", "says"),
    [
        ({"node": 4}, 8, "has 4 nodes, numbered from 0"),
        ({"rank": 32}, 8, "has 4 nodes with 8 processes each, numbered from 0"),
        ({"rank": 1}, None, "does not say how many processes a node has; use --node"),
    ],
)
def test_a_node_that_the_job_does_not_have_is_refused(
    asked: dict[str, Any], processes: int | None, says: str
) -> None:
    with pytest.raises(failures.WrongUseError, match=says):
        LogRequest(job="train", **asked).nodes_of(4, processes)


def test_of_several_jobs_the_first_listed_one_is_meant() -> None:
    jobs = [listed("default/train"), listed("team/train")]
    assert newest_of("train", jobs).id == "default/train"
    assert newest_of("team/train", jobs).id == "team/train"
    with pytest.raises(failures.WrongUseError, match="no job x; it has: default/train, team/train"):
        newest_of("x", jobs)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--node", "1"], "name the job, or: omit --node"),
        (["train", "--minutes", "5"], "the whole log of a job is printed: omit --minutes"),
        (["train", "--node", "1", "--all"], "give one of --node, --rank and --all"),
    ],
)
def test_options_of_the_other_logs_are_refused(trainyard, arguments: list[str], says: str) -> None:
    result = trainyard("logs", "p5-cb", *arguments)
    assert result.exit_code == failures.WRONG_USE
    assert says in result.stderr


@dataclass
class Cluster:
    """A job with pods, whose logs grow by a line with each read."""

    pods: list[SimpleNamespace]
    rounds: int = 1
    """Reads of the job until it has ended."""
    logs: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    variables: dict[str, str] = field(default_factory=lambda: {"PET_NPROC_PER_NODE": "8"})

    def get_namespaced_custom_object(self, *path: str) -> dict[str, Any]:
        assert path == ("batch", "v1", "team", "jobs", "train")
        self.rounds -= 1
        ended = (condition("Complete"),) if self.rounds < 0 else ()
        return workload("train", namespace="team", conditions=ended, env=self.variables)

    def list_namespaced_pod(self, namespace: str, *, label_selector: str) -> SimpleNamespace:
        assert (namespace, label_selector) == ("team", "batch.kubernetes.io/job-name=train")
        return SimpleNamespace(items=self.pods)

    def read_namespaced_pod_log(
        self, name: str, _namespace: str, **options: object
    ) -> SimpleNamespace:
        assert options["_preload_content"] is False
        lines = self.logs.setdefault(name, [])
        lines.append(f"2026-11-24T00:00:{len(lines):02}.000000000Z line {len(lines)} of {name}")
        return SimpleNamespace(data="\n".join(lines).encode())


def pod(name: str, index: int, minute: int, phase: str = "Running") -> SimpleNamespace:
    created = datetime(2026, 11, 24, 10, minute, tzinfo=UTC)
    metadata = SimpleNamespace(
        name=name, annotations={INDEX: str(index)}, creation_timestamp=created
    )
    return SimpleNamespace(metadata=metadata, status=SimpleNamespace(phase=phase))


PODS = [pod("a", 0, 1, "Failed"), pod("b", 0, 2), pod("c", 1, 1)]


@pytest.fixture
def of_eks(monkeypatch: pytest.MonkeyPatch):
    """The lines of a job in a cluster."""

    def read(cluster: Cluster, **asked: Any) -> list[str]:
        monkeypatch.setattr(client, "CustomObjectsApi", lambda _api: cluster)
        monkeypatch.setattr(client, "CoreV1Api", lambda _api: cluster)
        wait = JobWait(pause=lambda _: None, now=lambda: 0.0)
        request = LogRequest(job="train", wait=wait, **asked)
        return [*kubernetes_log(client.ApiClient(), listed("team/train"), request)]

    return read


@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        ({}, ["line 0 of b"]),
        ({"previous": True}, ["line 0 of a"]),
        ({"node": 1}, ["line 0 of c"]),
        ({"rank": 15}, ["line 0 of c"]),
        ({"every_node": True}, ["0: line 0 of b", "1: line 0 of c"]),
    ],
)
def test_the_log_is_that_of_the_newest_pod_of_a_node(
    of_eks, asked: dict[str, Any], lines: list[str]
) -> None:
    assert of_eks(Cluster(PODS), **asked) == lines


def test_a_log_is_followed_until_the_job_ends(of_eks) -> None:
    cluster = Cluster(PODS, rounds=3)
    assert of_eks(cluster, follow=True) == ["line 0 of b", "line 1 of b", "line 2 of b"]


def test_a_pod_that_was_not_replaced_has_no_previous_log(of_eks) -> None:
    with pytest.raises(failures.CommandError, match="node 1 of the job train has no previous pod"):
        of_eks(Cluster(PODS), node=1, previous=True)


def test_a_pod_that_has_not_started_is_told(of_eks, capsys) -> None:
    waiting = pod("b", 0, 2, "Pending")
    assert of_eks(Cluster([waiting])) == []
    assert "node 0: Pending" in capsys.readouterr().err


def test_a_log_that_cannot_be_read_is_an_error(of_eks, monkeypatch) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise ApiException(status=404, reason="Not Found")

    cluster = Cluster(PODS)
    monkeypatch.setattr(cluster, "read_namespaced_pod_log", refuse)
    with pytest.raises(failures.CommandError, match="the log of b cannot be read: Not Found"):
        of_eks(cluster)


@dataclass
class Batch:
    """A job of two nodes in its second attempt, and the log streams of its nodes."""

    looks: int = 0
    logs: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def describe_jobs(self, jobs: list[str]) -> dict[str, Any]:
        return {"jobs": [self._node(each) if "#" in each else self._job(each) for each in jobs]}

    def _job(self, job_id: str) -> dict[str, Any]:
        self.looks += 1
        environment = [{"name": "PET_NPROC_PER_NODE", "value": "8"}]
        ranges = [{"targetNodes": "0:", "container": {"environment": environment}}]
        state = "RUNNING" if self.looks < 4 else "SUCCEEDED"
        nodes = {"numNodes": 2, "nodeRangeProperties": ranges}
        return {"jobId": job_id, "status": state, "nodeProperties": nodes}

    def _node(self, job_id: str) -> dict[str, Any]:
        node = job_id.partition("#")[2]
        before = {"container": {"logStreamName": f"first/{node}"}} if node == "0" else {}
        container = {"logStreamName": f"second/{node}"}
        return {"jobId": job_id, "container": container, "attempts": [before]}

    def get_paginator(self, operation: str) -> Batch:
        assert operation == "filter_log_events"
        return self

    def paginate(self, **asked: Any) -> list[dict[str, Any]]:
        assert asked["logGroupName"] == "/aws/batch/job"
        (stream,) = asked["logStreamNames"]
        lines = self.logs.setdefault(stream, [])
        lines.append(f"line {len(lines)} of {stream}\n")
        events = [
            {"eventId": f"{stream} {at}", "timestamp": at, "message": line}
            for at, line in enumerate(lines)
        ]
        return [{"events": events}]


def of_batch(batch: Batch, **asked: Any) -> list[str]:
    request = LogRequest(job="train", wait=JobWait(pause=lambda _: None), **asked)
    return [*batch_log(batch, batch, listed("7d1c"), request)]


@pytest.mark.parametrize(
    ("asked", "lines"),
    [
        ({}, ["line 0 of second/0"]),
        ({"rank": 8}, ["line 0 of second/1"]),
        ({"previous": True}, ["line 0 of first/0"]),
        ({"every_node": True}, ["0: line 0 of second/0", "1: line 0 of second/1"]),
        ({"follow": True}, [f"line {at} of second/0" for at in range(3)]),
    ],
)
def test_each_node_and_attempt_of_batch_has_a_stream(
    asked: dict[str, Any], lines: list[str]
) -> None:
    assert of_batch(Batch(), **asked) == lines


def test_a_node_without_an_earlier_attempt_has_no_previous_log() -> None:
    with pytest.raises(failures.CommandError, match="7d1c#1 has no attempt before this one"):
        of_batch(Batch(), node=1, previous=True)

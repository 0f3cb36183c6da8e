"""`job --submit --wait` for EKS: states, why pods wait, the logs, and the limit."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from kubernetes import client
from kubernetes.client import ApiException

from tests.support.eks import P5, eks_plan
from tests.support.programs import manifests_of
from tests.support.workload_api import condition, workload
from trainyard.cli import failures
from trainyard.jobs.efa_smoke import render_efa_smoke
from trainyard.jobs.job_manifest import JobManifest
from trainyard.jobs.nccl import render_nccl_tests
from trainyard.jobs.nodes import JobRequest
from trainyard.schedulers.job_wait import POLL_SECONDS, JobWait
from trainyard.schedulers.kubernetes.job_wait import wait_for
from trainyard.workspace.accounts import AwsAccount, account_of

LEADS = manifests_of(render_nccl_tests(eks_plan(P5), JobRequest(nodes=2)).text)[0]
ALIKE = manifests_of(render_efa_smoke(eks_plan(P5), JobRequest(nodes=2)).text)[0]
INDEX = "batch.kubernetes.io/job-completion-index"
UNSCHEDULED = "Unschedulable: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu."


QUEUED: list[client.V1Pod] = []
"""The pods of a job that its queue has not started."""
WORKLOAD = {
    "status": {
        "conditions": [
            {
                "type": "QuotaReserved",
                "status": "False",
                "message": "insufficient unused quota for nvidia.com/gpu in flavor p5",
            }
        ]
    }
}


def pod(index: int, phase: str, *, exit_code: int | None = None) -> client.V1Pod:
    ended = client.V1ContainerStateTerminated(exit_code=exit_code or 0, reason="Error")
    container = SimpleNamespace(
        state=client.V1ContainerState(terminated=ended if exit_code else None), last_state=None
    )
    why = client.V1PodCondition(
        type="PodScheduled",
        status="False" if phase == "Pending" else "True",
        reason="Unschedulable",
        message=UNSCHEDULED.partition(": ")[2],
    )
    status: Any = client.V1PodStatus(phase=phase, conditions=[why])
    status.container_statuses = [container]
    metadata = client.V1ObjectMeta(name=f"pod-{index}", annotations={INDEX: str(index)})
    spec = client.V1PodSpec(
        node_name=None if phase == "Pending" else f"node-{index}", containers=[container]
    )
    return client.V1Pod(metadata=metadata, spec=spec, status=status)


def pods(phase: str, **details: Any) -> list[client.V1Pod]:
    return [pod(index, phase, **details) for index in range(2)]


def ended(kind: str, message: str = "", reason: str = "Reason") -> dict[str, Any]:
    return condition(kind, reason=reason, message=message)


class Cluster:
    """A job in successive states; the last one repeats."""

    def __init__(self, *looks: tuple[list[client.V1Pod], dict[str, Any] | None]) -> None:
        self.looks = list(looks)
        self.seconds = 0.0
        self.logs: list[str] = []
        self.ends: dict[str, str] = {}
        """The last lines of logs, by pod."""

    def get_namespaced_custom_object(self, *path: str) -> dict[str, Any]:
        assert path[:4] == ("batch", "v1", "default", "jobs")
        listed, condition = self.looks[0]
        return workload(
            path[4],
            conditions=(condition,) if condition else (),
            spec={"suspend": listed is QUEUED},
        )

    def list_namespaced_custom_object(self, *path: str, label_selector: str) -> dict[str, Any]:
        assert path == ("kueue.x-k8s.io", "v1beta2", "default", "workloads")
        assert label_selector == "kueue.x-k8s.io/job-uid=u-1"
        return {"items": [WORKLOAD]}

    def list_namespaced_pod(self, _namespace: str, *, label_selector: str) -> client.V1PodList:
        assert label_selector.startswith("batch.kubernetes.io/job-name=")
        listed, _ = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        return client.V1PodList(items=listed)

    def read_namespaced_pod_log(self, name: str, _namespace: str, **options: Any) -> Any:
        assert options.pop("_preload_content") is False
        return SimpleNamespace(data=self._log(name, **options).encode())

    def _log(
        self, name: str, *, timestamps: bool = False, since_seconds: int = 0, tail_lines: int = 0
    ) -> str:
        if tail_lines:
            return self.ends.get(name, "")
        self.logs.append(name)
        if not timestamps:
            return f"log of {name}"
        first = max(0, int(self.seconds) - since_seconds) if since_seconds else 0
        lines = [f"log of {name}", *(f"step {at}" for at in range(5, int(self.seconds) + 1, 5))]
        return "\n".join(
            f"2026-11-24T00:00:{5 * at:02}.000000000Z {line}"
            for at, line in enumerate(lines)
            if 5 * at >= first
        )

    def pause(self, seconds: float) -> None:
        self.seconds += seconds


@pytest.fixture
def follow(monkeypatch: pytest.MonkeyPatch):
    """Follow jobs in a cluster of the test."""

    def run(cluster: Cluster, *jobs: JobManifest, sandbox: bool = False) -> None:
        monkeypatch.setattr(client, "CoreV1Api", lambda _api: cluster)
        monkeypatch.setattr(client, "CustomObjectsApi", lambda _api: cluster)
        wait = JobWait(pause=cluster.pause, now=lambda: cluster.seconds)
        wait_for(client.ApiClient(), jobs, wait, account_of(sandbox=sandbox))

    return run


@pytest.fixture
def nodes_of(monkeypatch: pytest.MonkeyPatch):
    """Follow a job in a cluster of the test, and return the nodes that it ran on."""

    def run(cluster: Cluster) -> set[str]:
        monkeypatch.setattr(client, "CustomObjectsApi", lambda _api: cluster)
        monkeypatch.setattr(client, "CoreV1Api", lambda _api: cluster)
        found: set[str] = set()
        wait = JobWait(pause=cluster.pause, now=lambda: cluster.seconds, ran_on=found.update)
        with suppress(failures.CommandError):
            wait_for(client.ApiClient(), [LEADS], wait, AwsAccount())
        return found

    return run


@pytest.mark.parametrize("condition", ["Complete", "Failed"])
def test_the_nodes_of_a_job_that_has_ended_are_told(nodes_of, condition: str) -> None:
    last = [pod(0, "Failed", exit_code=1), pod(1, "Pending")]
    assert nodes_of(Cluster((last, ended(condition)))) == {"node-0"}


def test_the_nodes_of_pods_that_ended_with_their_leader_are_told(nodes_of) -> None:
    last = ([pod(0, "Succeeded")], ended("Complete"))
    assert nodes_of(Cluster((pods("Running"), None), last)) == {"node-0", "node-1"}


def test_a_state_and_its_reason_are_told_once(follow, capsys) -> None:
    pending, done = (pods("Pending"), None), (pods("Succeeded"), ended("Complete"))
    follow(Cluster(pending, pending, (pods("Running"), None), done), LEADS)
    said = capsys.readouterr().err
    assert said.count("2 Pending, of 2 pods") == 1
    assert said.count(f"2 x {UNSCHEDULED}") == 1
    assert said.count("2 Running, of 2 pods") == 1
    assert "has completed" in said


def test_the_log_is_that_of_the_pod_with_the_result(follow, capsys) -> None:
    done = (pods("Succeeded"), ended("Complete"))
    follow(cluster := Cluster(done), LEADS)
    assert cluster.logs == ["pod-0"]
    assert capsys.readouterr().out == "log of pod-0\n"
    follow(cluster := Cluster(done), ALIKE)
    assert cluster.logs == ["pod-0", "pod-1"]


def test_the_lines_of_the_first_pod_are_printed_once_while_it_runs(follow, capsys) -> None:
    running = (pods("Running"), None)
    done = (pods("Succeeded"), ended("Complete"))
    cluster = Cluster(running, running, running, done)
    follow(cluster, LEADS)
    steps = "".join(f"step {at}\n" for at in (5, 10, 15))
    assert capsys.readouterr().out == f"log of pod-0\n{steps}"
    assert set(cluster.logs) == {"pod-0"}


def test_a_failed_job_ends_the_command_with_the_exit_codes_after_its_log(follow, capsys) -> None:
    failed = (pods("Failed", exit_code=2), ended("Failed", "Job has reached the backoff limit"))
    with pytest.raises(failures.CommandError, match="backoff limit") as caught:
        follow(Cluster(failed), LEADS)
    assert "pod-1: Error with exit code 2" in str(caught.value)
    assert caught.value.exit_code == failures.WORK_FAILED
    assert capsys.readouterr().out == "log of pod-0\n"


@pytest.mark.parametrize("job", [LEADS, ALIKE])
def test_a_failed_job_names_the_section_of_the_error_in_its_logs(follow, job: JobManifest) -> None:
    """Another pod than the one whose log is printed has it."""
    cluster = Cluster((pods("Failed", exit_code=1), ended("Failed", reason="BackoffLimitExceeded")))
    cluster.ends["pod-1"] = "node-1:99:99 [0] NCCL WARN Error: network Libfabric not found.\n"
    with pytest.raises(failures.JobFailedError) as caught:
        follow(cluster, job)
    sections = [line for line in str(caught.value).splitlines() if "troubleshooting.md" in line]
    assert sections == ["  more: docs/troubleshooting.md#error-network-libfabric-not-found"]


def test_a_failed_job_whose_logs_have_no_known_error_names_no_section(follow) -> None:
    cluster = Cluster((pods("Failed", exit_code=1), ended("Failed", reason="BackoffLimitExceeded")))
    cluster.ends["pod-0"] = "AssertionError: the loss is not finite\n"
    with pytest.raises(failures.JobFailedError) as caught:
        follow(cluster, LEADS)
    assert "troubleshooting.md" not in str(caught.value)


def test_a_program_without_memory_is_named_by_its_pod(follow) -> None:
    """The kernel has ended it, and the log has nothing about it."""
    killed = pods("Failed", exit_code=137)
    for each in killed:
        (container,) = each.status.container_statuses
        container.state.terminated.reason = "OOMKilled"
    with pytest.raises(failures.JobFailedError, match=r"troubleshooting\.md#oomkilled"):
        follow(Cluster((killed, ended("Failed", reason="BackoffLimitExceeded"))), LEADS)


@pytest.mark.parametrize(("code", "exits"), [(77, 77), (2, 1), (3, 1), (137, 137)])
def test_the_command_ends_with_the_exit_code_of_the_program(follow, code: int, exits: int) -> None:
    failed = (pods("Failed", exit_code=code), ended("Failed"))
    with pytest.raises(failures.JobFailedError) as caught:
        follow(Cluster(failed), LEADS)
    assert caught.value.exit_code == exits


def test_the_exit_code_is_that_of_the_first_program_after_the_last_restart(follow) -> None:
    restarted, first, second = (
        pod(index, "Failed", exit_code=code) for index, code in ((0, 10), (0, 11), (1, 12))
    )
    for at, each in ((1, restarted), (2, first), (2, second)):
        each.metadata.creation_timestamp = datetime(2026, 11, 24, 10, at, tzinfo=UTC)
    for at, each in ((1, restarted), (4, first), (3, second)):
        (container,) = each.status.container_statuses
        container.state.terminated.finished_at = datetime(2026, 11, 24, 11, at, tzinfo=UTC)
    with pytest.raises(failures.JobFailedError) as caught:
        follow(Cluster(([first, second, restarted], ended("Failed"))), LEADS)
    assert caught.value.exit_code == 12


def test_a_job_that_ran_out_of_time_has_the_exit_code_of_timeout(follow) -> None:
    over = ended("Failed", reason="DeadlineExceeded")
    with pytest.raises(failures.JobFailedError) as caught:
        follow(Cluster(([], over)), LEADS)
    assert caught.value.exit_code == 124


def test_the_time_limit_of_one_pod_is_that_of_the_job(follow) -> None:
    """It ends the program on the other nodes, where it is an error."""
    failed = [pod(0, "Failed", exit_code=1), pod(1, "Failed", exit_code=124)]
    with pytest.raises(failures.JobFailedError) as caught:
        follow(Cluster((failed, ended("Failed"))), LEADS)
    assert caught.value.exit_code == 124


def test_pods_that_never_start_end_the_wait_and_the_job_stays(follow) -> None:
    cluster = Cluster(([pod(0, "Running"), pod(1, "Pending")], None))
    with pytest.raises(failures.CommandError, match="after 30 minutes") as caught:
        follow(cluster, LEADS)
    assert cluster.seconds == 30 * 60
    assert UNSCHEDULED in str(caught.value)
    assert "--wait-minutes" in str(caught.value)


def test_a_queued_job_says_why_until_it_starts(follow, capsys) -> None:
    done = (pods("Succeeded"), ended("Complete"))
    follow(Cluster((QUEUED, None), (QUEUED, None), (pods("Running"), None), done), LEADS)
    said = capsys.readouterr().err
    assert said.count("is queued: insufficient unused quota for nvidia.com/gpu") == 1
    assert "2 Running, of 2 pods" in said


def test_a_job_that_stays_in_the_queue_ends_the_wait_with_the_reason(follow) -> None:
    with pytest.raises(failures.CommandError, match="after 30 minutes") as caught:
        follow(Cluster((QUEUED, None)), LEADS)
    assert "insufficient unused quota" in str(caught.value)


def test_a_job_that_has_started_has_no_limit(follow) -> None:
    hour = [(pods("Running"), None)] * (3600 // POLL_SECONDS)
    follow(cluster := Cluster(*hour, (pods("Succeeded"), ended("Complete"))), LEADS)
    assert cluster.seconds == 3600


def test_the_sandbox_says_why_a_log_is_empty(follow, capsys, monkeypatch) -> None:
    cluster = Cluster((pods("Succeeded"), ended("Complete")))
    monkeypatch.setattr(cluster, "_log", lambda _name, **_options: "")
    follow(cluster, LEADS, sandbox=True)
    assert "the sandbox runs no containers" in capsys.readouterr().err
    follow(Cluster((pods("Succeeded"), ended("Complete"))), LEADS, sandbox=True)
    assert "the sandbox runs no containers" not in capsys.readouterr().err


def test_after_a_restart_the_log_of_the_next_pod_is_printed_too(follow, capsys) -> None:
    first, second = pod(0, "Failed", exit_code=1), pod(0, "Running")
    second.metadata.name = "pod-0-again"
    # The list is in the order of the random names.
    for each, minute in ((first, 0), (second, 1)):
        each.metadata.creation_timestamp = datetime(2026, 11, 24, 0, minute, tzinfo=UTC)
    looks = [([pod(0, "Running")], None), ([second, first], None), ([second, first], None)]
    follow(Cluster(*looks, ([second, first], ended("Complete"))), LEADS)
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert lines[:3] == ["log of pod-0", "step 5", "log of pod-0-again"]
    assert lines.count("step 15") == 1
    assert "log of pod-0-again:" in said.err


def test_a_log_that_cannot_be_read_is_no_failure(follow, capsys, monkeypatch) -> None:
    def refuse(_name: str, _namespace: str, **_more: object) -> str:
        raise ApiException(status=500, reason="container not found")

    cluster = Cluster((pods("Succeeded"), ended("Complete")))
    monkeypatch.setattr(cluster, "read_namespaced_pod_log", refuse)
    follow(cluster, LEADS)
    assert "the log of pod-0 cannot be read: container not found" in capsys.readouterr().err

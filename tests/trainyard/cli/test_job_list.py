"""`jobs` and `cancel`: the jobs of each scheduler, and which one a name means."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from tests.support.workload_api import WorkloadApi, condition, workload
from trainyard.cli import failures
from trainyard.schedulers.batch.jobs import BatchJobs
from trainyard.schedulers.kubernetes.jobs import KubernetesJobs
from trainyard.schedulers.listed_job import ListedJob
from trainyard.schedulers.log_request import LogRequest
from trainyard.schedulers.slurm.jobs import SlurmJobs

AT = datetime(2026, 11, 24, 10, tzinfo=UTC)
LATER = datetime(2026, 11, 24, 11, 4, tzinfo=UTC)


def listed(job_id: str, **changes: Any) -> ListedJob:
    values = {
        "id": job_id,
        "name": "train",
        "state": "RUNNING",
        "nodes": 2,
        "started": AT,
        "ended": None,
        "has_ended": False,
    }
    return ListedJob(**{**values, **changes})


ENDED = {"state": "FAILED", "ended": LATER, "has_ended": True}


@dataclass
class Jobs:
    """A stack whose scheduler has some jobs, and that scheduler."""

    found: list[ListedJob]
    cancelled: list[str] = field(default_factory=list)
    last: str = ""
    """Line at the end of each log."""

    def __call__(self, *_: object) -> Jobs:
        return self

    def scheduler(self, **_: object) -> Jobs:
        return self

    @contextmanager
    def submitted(self) -> Iterator[Jobs]:
        yield self

    def jobs(self) -> list[ListedJob]:
        return self.found

    def log(self, asked: LogRequest) -> Iterator[str]:
        yield f"log of {asked.job}"
        if self.last:
            yield self.last

    def cancel(self, job: ListedJob) -> None:
        self.cancelled.append(job.id)


@pytest.fixture
def scheduler() -> Jobs:
    return Jobs([listed("1"), listed("2", name="other"), listed("3", **ENDED)])


def test_the_log_of_a_job_is_printed(trainyard, scheduler: Jobs) -> None:
    result = trainyard("logs", "p5-cb", "train", "--sandbox", deployed=scheduler)
    assert (result.exit_code, result.stdout) == (0, "log of train\n"), result.stderr


def test_the_section_of_the_error_in_a_log_is_named_after_it(trainyard, scheduler: Jobs) -> None:
    scheduler.last = "node-1:99:99 [0] NCCL WARN Error: network Libfabric not found."
    result = trainyard("logs", "p5-cb", "train", "--sandbox", deployed=scheduler)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == f"log of train\n{scheduler.last}\n"
    assert "docs/troubleshooting.md#error-network-libfabric-not-found" in result.stderr


def test_the_log_of_eks_is_that_of_the_pods_of_the_job() -> None:
    api = WorkloadApi([kubernetes_job("two"), kubernetes_job("one")])
    scheduler = KubernetesJobs(api)
    assert not [*scheduler.log(LogRequest(job="one"))]
    assert api.pods_of == ["batch.kubernetes.io/job-name=one"]
    with pytest.raises(failures.WrongUseError, match="it has: team/two, team/one"):
        scheduler.log(LogRequest(job="three"))


def test_the_log_of_batch_is_that_of_the_job_with_the_name() -> None:
    batch, logs = aws("batch"), aws("logs")
    two, one = ({"jobId": each, "jobName": "train", "status": "FAILED"} for each in ("2", "1"))
    needed = {"jobQueue": "q", "jobDefinition": "d", "startedAt": 1}
    described = {**one, **needed, "container": {"logStreamName": "s"}}
    with Stubber(batch) as of_batch, Stubber(logs) as of_logs:
        expect_jobs(of_batch, FAILED=[two, one])
        for _ in range(3):
            of_batch.add_response("describe_jobs", {"jobs": [described]}, {"jobs": ["1"]})
        event = {"timestamp": 1, "message": "step 1", "eventId": "e", "logStreamName": "s"}
        of_logs.add_response("filter_log_events", {"events": [event]})
        expect_jobs(of_batch, FAILED=[two, one])
        scheduler = BatchJobs(batch, logs, ["q"])
        assert [*scheduler.log(LogRequest(job="1"))] == ["step 1"]
        with pytest.raises(failures.WrongUseError, match="has no job 3; it has: 2, 1"):
            scheduler.log(LogRequest(job="3"))


def aws(service: str) -> Any:
    return boto3.client(
        service, region_name="us-west-2", aws_access_key_id="x", aws_secret_access_key="x"
    )


def expect_jobs(batch: Stubber, **jobs: list[dict[str, Any]]) -> None:
    """Expect the requests for the jobs of a queue, and answer with jobs by their state."""
    states = ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED")
    for state in states:
        answer = {"jobSummaryList": jobs.get(state, [])}
        batch.add_response("list_jobs", answer, {"jobQueue": "q", "jobStatus": state})


def test_jobs_are_rows_with_their_time(trainyard, scheduler: Jobs) -> None:
    result = trainyard("jobs", "p5-cb", "--sandbox", deployed=scheduler)
    assert result.exit_code == 0, result.stderr
    header, first, _, last = result.stdout.splitlines()
    assert header.split() == ["ID", "NAME", "STATE", "NODES", "STARTED", "TIME"]
    assert first.startswith("1   train  RUNNING  2      2026-11-24 10:00")
    assert last == "3   train  FAILED   2      2026-11-24 10:00  1 h 4 min"


def test_jobs_as_json(trainyard, scheduler: Jobs) -> None:
    result = trainyard("jobs", "p5-cb", "--sandbox", "--json", deployed=scheduler)
    answer = json.loads(result.stdout)
    assert [each["id"] for each in answer] == ["1", "2", "3"]
    assert answer[2]["ended"] == "2026-11-24T11:04:00+00:00"


def test_no_jobs_are_told(trainyard, scheduler: Jobs) -> None:
    scheduler.found.clear()
    result = trainyard("jobs", "p5-cb", "--sandbox", deployed=scheduler)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "p5-cb has no jobs" in result.stderr


@pytest.mark.parametrize(("job", "ended"), [("2", "2"), ("other", "2"), ("train", "1")])
def test_the_job_of_a_name_or_id_is_cancelled(
    trainyard, scheduler: Jobs, job: str, ended: str
) -> None:
    result = trainyard("cancel", "p5-cb", job, "--sandbox", deployed=scheduler)
    assert result.exit_code == 0, result.stderr
    assert scheduler.cancelled == [ended]
    assert "which was RUNNING" in result.stderr


@pytest.mark.parametrize(
    ("job", "says"),
    [
        ("9", "p5-cb has no job 9; not ended: 1, 2, 4"),
        ("3", "the job 3 of p5-cb is FAILED"),
        ("train", "p5-cb has several jobs train; name one by id: 1, 4"),
    ],
)
def test_nothing_is_cancelled_unless_one_job_is_meant(
    trainyard, scheduler: Jobs, job: str, says: str
) -> None:
    scheduler.found.append(listed("4"))
    result = trainyard("cancel", "p5-cb", job, "--sandbox", deployed=scheduler)
    assert result.exit_code == failures.WRONG_USE
    assert says in result.stderr
    assert not scheduler.cancelled


@pytest.mark.parametrize("command", [["jobs"], ["cancel"]])
def test_a_network_has_no_jobs(trainyard, command: list[str]) -> None:
    result = trainyard(*command, "vpc-one-az", *(["1"] if command == ["cancel"] else []))
    assert result.exit_code == failures.WRONG_USE
    assert "is a network, and runs no jobs" in result.stderr


RUNNING = "12|RUNNING|2|2026-11-24T10:00:00|2026-11-25T10:00:00|train"
PENDING = "13|PENDING|4|N/A|N/A|a|b"
COMPLETED = "11|COMPLETED|2|2026-11-24T10:00:00|2026-11-24T11:04:00|nccl-tests"


class Squeue:
    """A head node that answers `squeue` with these jobs."""

    def __init__(self, *jobs: str, characters: int = 24_000) -> None:
        self.jobs, self.characters = jobs, characters
        self.asked: list[str] = []

    def run(self, script: str) -> str:
        self.asked.append(script)
        asked = re.search(r"--format='([0-9a-f]+)%i", script)
        if asked is None:
            return ""
        shown = "".join(f"{asked[1]}{job}\n" for job in self.jobs)
        return f"{shown}{asked[1]}\n"[: self.characters]


def test_a_name_with_line_breaks_is_the_name_of_one_job(trainyard) -> None:
    forged = "a\n99|RUNNING|1|N/A|N/A|x"
    (job,) = SlurmJobs(Squeue(f"7|PENDING|1|N/A|N/A|{forged}").run).jobs()
    assert (job.id, job.name) == ("7", forged)
    shown = trainyard("jobs", "p5-cb", "--sandbox", deployed=Jobs([job])).stdout
    assert len(shown.splitlines()) == 2
    done = trainyard("cancel", "p5-cb", "7", "--sandbox", deployed=Jobs([job]))
    assert len(done.stderr.splitlines()) == 1


def test_no_job_can_be_named_after_the_text_before_each_job() -> None:
    slurm = Squeue()
    for _ in range(2):
        assert SlurmJobs(slurm.run).jobs() == []
    assert len({*slurm.asked}) == 2


def test_a_list_that_systems_manager_cuts_off_has_its_whole_jobs(capsys) -> None:
    jobs = (RUNNING, PENDING, COMPLETED)
    begin, of_last = len("0123456789abcdef"), len(COMPLETED) + 1
    all_of_them = sum(begin + len(job) + 1 for job in jobs)
    for cut in range(begin + of_last):
        slurm = Squeue(*jobs, characters=all_of_them - cut)
        found = [each.name for each in SlurmJobs(slurm.run).jobs()]
        assert found == (["train", "a|b"] if cut <= of_last else ["train"]), cut
    assert "only the newest 2 jobs are listed" in capsys.readouterr().err


def test_jobs_of_slurm_are_read_from_squeue() -> None:
    node = Squeue(RUNNING, PENDING, COMPLETED)
    slurm = SlurmJobs(node.run)
    running, pending, ended = slurm.jobs()
    assert (running.id, running.started, running.ended, running.has_ended) == (
        "12",
        AT,
        None,
        False,
    )
    assert (pending.name, pending.state, pending.nodes, pending.started) == (
        "a|b",
        "PENDING",
        4,
        None,
    )
    assert (ended.id, ended.ended, ended.has_ended) == ("11", LATER, True)
    slurm.cancel(running)
    assert node.asked[-1] == "scancel 12\n"


def kubernetes_job(name: str, *, end: str = "", kind: str = "Job", **changes: Any) -> Any:
    ended = condition(end, lastTransitionTime=LATER.isoformat())
    changes["status"] = {"startTime": AT.isoformat(), **changes.get("status", {})}
    conditions = (ended,) if end else ()
    return workload(name, kind=kind, namespace="team", conditions=conditions, **changes)


@pytest.mark.parametrize("has_job_set", [True, False])
def test_jobs_of_eks_are_those_that_carry_the_label(*, has_job_set: bool) -> None:
    not_started: dict[str, Any] = {"status": {"startTime": None}}
    present = [
        kubernetes_job("failed", end="Failed"),
        kubernetes_job("waits", **not_started),
        kubernetes_job("queued", spec={"suspend": True}, **not_started),
        kubernetes_job("runs", status={"ready": 2}),
        kubernetes_job(
            "deleted",
            status={"ready": 2},
            metadata={"deletionTimestamp": LATER.isoformat()},
        ),
    ]
    api = WorkloadApi(present, has_job_set=has_job_set)
    scheduler = KubernetesJobs(api)
    found = scheduler.jobs()
    assert [(each.id, each.state, each.has_ended) for each in found] == [
        ("team/runs", "Running", False),
        ("team/waits", "Pending", False),
        ("team/queued", "Queued", False),
        ("team/failed", "Failed", True),
        ("team/deleted", "Terminating", True),
    ]
    assert found[3].ended == LATER
    scheduler.cancel(found[0])
    assert api.requests == ["delete Job runs Foreground"]


def test_job_sets_are_listed_and_cancelled_like_jobs() -> None:
    resumed = condition("Suspended", "False", lastTransitionTime=AT.isoformat())
    ready = {"replicatedJobsStatus": [{"name": "nodes", "ready": 1}]}
    runs = kubernetes_job("runs", kind="JobSet", status=ready)
    runs["status"]["conditions"].append(resumed)
    ended = kubernetes_job(
        "ended", kind="JobSet", end="Completed", metadata={"creationTimestamp": AT.isoformat()}
    )
    queued = kubernetes_job("queued", kind="JobSet", spec={"suspend": True})
    api = WorkloadApi([ended, runs, queued])
    scheduler = KubernetesJobs(api)
    found = scheduler.jobs()
    assert [(each.id, each.state, each.nodes, each.started, each.ended) for each in found] == [
        ("team/runs", "Running", 2, AT, None),
        ("team/queued", "Queued", 2, None, None),
        ("team/ended", "Complete", 2, AT, LATER),
    ]
    scheduler.cancel(found[0])
    assert api.requests == ["delete JobSet runs Foreground"]


def test_jobs_of_batch_are_listed_by_queue_and_state() -> None:
    batch = aws("batch")
    running = {
        "jobId": "a-1",
        "jobName": "train",
        "status": "RUNNING",
        "startedAt": int(AT.timestamp() * 1000),
        "nodeProperties": {"numNodes": 4},
    }
    failed = {
        "jobId": "a-2",
        "jobName": "one",
        "status": "FAILED",
        "stoppedAt": int(LATER.timestamp() * 1000),
    }
    with Stubber(batch) as stub:
        expect_jobs(stub, RUNNING=[running], FAILED=[failed])
        asked = {"jobId": "a-1", "reason": "cancelled with trainyard"}
        stub.add_response("terminate_job", {}, asked)
        scheduler = BatchJobs(batch, None, ["q"])
        first, second = scheduler.jobs()
        scheduler.cancel(first)
    assert (first.id, first.nodes, first.started, first.has_ended) == ("a-1", 4, AT, False)
    assert (second.id, second.nodes, second.ended, second.has_ended) == ("a-2", 1, LATER, True)


def test_a_batch_job_is_also_known_without_the_suffix_of_its_name() -> None:
    """`run --name train` submits `train-0a1b2c3d`, because names of Batch are not unique."""
    batch = aws("batch")
    with Stubber(batch) as stub:
        expect_jobs(
            stub, RUNNING=[{"jobId": "a-1", "jobName": "train-0a1b2c3d", "status": "RUNNING"}]
        )
        (job,) = BatchJobs(batch, None, ["q"]).jobs()
    assert [each for each in ("a-1", "train-0a1b2c3d", "train", "a") if job.is_called(each)] == [
        *("a-1", "train-0a1b2c3d", "train"),
    ]

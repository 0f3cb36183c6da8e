"""Containers of Batch jobs according to the schedule of faults: ends, logs and lost hosts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.batch_account import Batch
from tests.support.sandbox_aws import Account
from trainyard.sandbox.faults.schedule import FAULTS, parse_schedule

GROUP = "/aws/batch/job"


@pytest.fixture
def batch(account: Account) -> Iterator[Batch]:
    """A queue of c5.2xlarge, with a definition of one container and one of two nodes."""
    batch = Batch(account)
    batch.queue(batch.environment(maxvCpus=32))
    batch.single(retryStrategy={"attempts": 2})
    nodes = [{"targetNodes": "0:", "container": _node()}]
    batch.multinode(nodeRangeProperties=nodes)
    yield batch
    FAULTS.use([])


def _node() -> dict[str, Any]:
    return {"image": "public.ecr.aws/hpc-cloud/nccl-tests:1", "vcpus": 8, "memory": 1024}


@pytest.fixture
def use(tmp_path: Path):
    """Put a schedule for the job in force."""
    (tmp_path / "run.log").write_text("step 1\nstep 2\n", encoding="utf-8")
    (tmp_path / "stop.log").write_text("checkpoint\n", encoding="utf-8")
    return lambda *entries: FAULTS.use(
        parse_schedule([{"job": "job", **each} for each in entries], tmp_path)
    )


def log(batch: Batch, stream: str) -> list[str]:
    client = batch.account.client("logs")
    events = client.filter_log_events(logGroupName=GROUP, logStreamNames=[stream])["events"]
    return [each["message"] for each in events]


def test_a_container_fails_with_its_exit_code_and_the_next_attempt_succeeds(
    batch: Batch, use: Any
) -> None:
    use({"happens": "container-fails", "exit_code": 7, "log": "run.log", "after_seconds": 1})
    job = batch.submit("one")
    batch.wait(20)
    found = batch.job(job)
    assert found["status"] == "SUCCEEDED"
    ends = [each["container"].get("exitCode") for each in found["attempts"]]
    assert ends == [7, 0]
    streams = [each["container"]["logStreamName"] for each in found["attempts"]]
    assert streams[1] == found["container"]["logStreamName"]
    assert {each.rpartition("/")[0] for each in streams} == {"one/default"}
    assert [log(batch, each) for each in streams] == [["step 1", "step 2"], []]


def test_a_job_without_attempts_left_fails(batch: Batch, use: Any) -> None:
    use({"happens": "container-fails", "times": "always"})
    job = batch.submit("one")
    batch.wait(20)
    found = batch.job(job)
    assert (found["status"], found["statusReason"]) == (
        "FAILED",
        "Essential container in task exited",
    )
    assert (len(found["attempts"]), found["container"]["exitCode"]) == (2, 1)


def test_a_container_that_hangs_runs_until_its_job_is_terminated(batch: Batch, use: Any) -> None:
    use({"happens": "container-hangs", "log": "run.log", "stop_log": "stop.log"})
    job = batch.submit("one")
    batch.wait(600)
    assert batch.job(job)["status"] == "RUNNING"
    stream = batch.job(job)["container"]["logStreamName"]
    batch.client.terminate_job(jobId=job, reason="enough")
    assert batch.job(job)["status"] == "FAILED"
    assert log(batch, stream) == ["step 1", "step 2", "checkpoint"]


def test_the_main_node_decides_about_a_job_and_each_node_has_its_own_log(
    batch: Batch, use: Any
) -> None:
    use(
        {"happens": "container-succeeds", "index": 0, "log": "run.log", "after_seconds": 9},
        {"happens": "container-fails", "index": 1, "exit_code": 3},
    )
    job = batch.submit("mnp")
    batch.wait(5)
    main, child = (batch.job(f"{job}#{index}") for index in range(2))
    assert (main["status"], child["status"], batch.job(job)["status"]) == (
        "RUNNING",
        "FAILED",
        "RUNNING",
    )
    assert child["container"]["exitCode"] == 3
    assert (main["nodeDetails"], child["nodeDetails"]["isMainNode"]) == (
        {"nodeIndex": 0, "isMainNode": True},
        False,
    )
    assert log(batch, main["container"]["logStreamName"]) == ["step 1", "step 2"]
    batch.wait(10)
    assert batch.job(job)["status"] == "SUCCEEDED"
    assert batch.client.describe_jobs(jobs=[f"{job}#2"])["jobs"] == []


@pytest.mark.parametrize(("index", "status"), [(0, "FAILED"), (1, "SUCCEEDED")])
def test_a_lost_host_ends_a_job_if_it_is_that_of_the_main_node(
    batch: Batch, use: Any, index: int, status: str
) -> None:
    """https://docs.aws.amazon.com/batch/latest/userguide/job-lifecycle.html"""
    use(
        {"happens": "node-lost", "index": index, "after_seconds": 2},
        {"happens": "container-succeeds", "after_seconds": 9},
    )
    job = batch.submit("mnp")
    before = {each["InstanceId"] for each in batch.account.instances()}
    batch.wait(6)
    (lost,) = before - {each["InstanceId"] for each in batch.account.instances()}
    reason = f"Host EC2 (instance {lost}) terminated."
    assert batch.job(f"{job}#{index}")["statusReason"] == reason
    batch.wait(15)
    assert batch.job(job)["status"] == status
    assert (batch.job(job)["statusReason"] == reason) == (index == 0)

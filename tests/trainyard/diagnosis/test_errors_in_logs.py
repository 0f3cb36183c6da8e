"""`diagnose` names the errors in the logs of jobs that have failed, without the logs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber
from kubernetes import client
from kubernetes.client import ApiException

from trainyard.diagnosis.bundle import Bundle
from trainyard.diagnosis.job_log import LOG_LINES, error_in
from trainyard.schedulers.batch.job_wait import error_in_nodes
from trainyard.schedulers.kubernetes.diagnosis import blame_logs
from trainyard.schedulers.slurm.diagnosis import errors_in_logs

NO_NETWORK = "node-1:99:99 [0] NCCL WARN Error: network Libfabric not found."
"""`ncclNetInit` in https://github.com/NVIDIA/nccl/blob/v2.21.5-1/src/net.cc"""
SECTION = "docs/troubleshooting.md#error-network-libfabric-not-found"


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    directory = tmp_path / "bundle"
    directory.mkdir()
    return Bundle(directory)


def places(bundle: Bundle) -> list[str]:
    """Return the causes in the summary of a bundle that name a section."""
    return [line for line in bundle.finish("s").splitlines() if "troubleshooting.md" in line]


def pod(name: str) -> SimpleNamespace:
    metadata = SimpleNamespace(name=name, namespace="team", creation_timestamp=name)
    return SimpleNamespace(metadata=metadata, status=SimpleNamespace(phase="Failed"))


def test_the_pods_of_a_cluster_that_have_failed_are_read(
    bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = {"train-0": "step 7", "train-1": f"{NO_NETWORK}\nhf_{'x' * 34}"}

    class Core:
        def read_namespaced_pod_log(self, name: str, namespace: str, **options: Any) -> Any:
            assert (namespace, options["tail_lines"]) == ("team", LOG_LINES)
            if name not in logs:
                raise ApiException(status=404, reason="Not Found")
            return SimpleNamespace(data=logs[name].encode())

    api: Any = None
    monkeypatch.setattr(client, "CoreV1Api", lambda _: Core())
    blame_logs(bundle, api, [pod("train-0"), pod("train-1"), pod("gone")])
    (place,) = places(bundle)
    assert place.startswith("- the log of pod team/train-1 has: ")
    assert SECTION in place
    assert "hf_" not in bundle.finish("s")


@pytest.mark.parametrize(
    ("state", "is_named"),
    [("FAILED", True), ("", True), ("COMPLETED", False), ("RUNNING", False)],
)
def test_the_newest_logs_of_a_head_node_are_read(
    bundle: Bundle, tmp_path: Path, state: str, is_named: bool
) -> None:
    """Of a job that Slurm has forgotten, only the file is left."""
    for number, line in ((11, "step 7"), (12, NO_NETWORK)):
        directory = tmp_path / "trainyard-jobs" / f"train-{number}ab"
        directory.mkdir(parents=True)
        (directory / f"train-{number}.out").write_text(f"{line}\n", encoding="utf-8")
    squeue = tmp_path / "bin" / "squeue"
    squeue.parent.mkdir()
    squeue.write_text(f"#!/bin/sh\necho {state}\n" if state else "#!/bin/sh\nexit 1\n", "utf-8")
    squeue.chmod(0o755)
    environment = {"HOME": str(tmp_path), "PATH": f"{squeue.parent}:{os.environ['PATH']}"}

    def run(script: str) -> str:
        return subprocess.run(
            ["bash"], input=script, env=environment, text=True, capture_output=True, check=True
        ).stdout

    named = errors_in_logs(bundle, run)
    assert [*named] == (["train-12"] if is_named else [])
    found = places(bundle)
    assert bool(found) == is_named
    if is_named:
        assert found[0].startswith("- the log of Slurm job train-12 has: ")
        assert SECTION in found[0]


def test_a_head_node_without_jobs_has_no_errors_in_logs(bundle: Bundle, tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}

    def run(script: str) -> str:
        done = subprocess.run(
            ["bash"], input=script, env=environment, text=True, capture_output=True, check=True
        )
        assert done.stderr == ""
        return done.stdout

    assert errors_in_logs(bundle, run) == {}
    assert not bundle.causes


def aws(service: str) -> Any:
    return boto3.client(
        service, region_name="us-west-2", aws_access_key_id="x", aws_secret_access_key="x"
    )  # pyright: ignore[reportCallIssue, reportArgumentType]


def test_the_nodes_of_a_batch_job_that_ended_with_an_error_are_read() -> None:
    batch, logs = aws("batch"), aws("logs")
    base = {"jobName": "t", "jobQueue": "q", "jobDefinition": "d", "startedAt": 1}
    nodes = [
        {**base, "jobId": "7#0", "status": "FAILED", "container": {"logStreamName": "s/0"}},
        {
            **base,
            "jobId": "7#1",
            "status": "FAILED",
            "container": {"logStreamName": "s/1", "exitCode": 1},
        },
    ]
    job = {
        **base,
        "jobId": "7",
        "status": "FAILED",
        "nodeProperties": {"numNodes": 2, "mainNode": 0, "nodeRangeProperties": []},
    }
    event = {"timestamp": 1, "message": NO_NETWORK, "eventId": "e", "logStreamName": "s/1"}
    with Stubber(batch) as of_batch, Stubber(logs) as of_logs:
        of_batch.add_response("describe_jobs", {"jobs": nodes}, {"jobs": ["7#0", "7#1"]})
        asked = {"logGroupName": "/aws/batch/job", "startTime": 0, "logStreamNames": ["s/1"]}
        of_logs.add_response("filter_log_events", {"events": [event]}, asked)
        error = error_in_nodes(batch, logs, job)
        of_batch.assert_no_pending_responses()
        of_logs.assert_no_pending_responses()
    assert error is not None
    assert SECTION in error.more


def test_an_error_is_looked_for_at_the_end_of_a_log() -> None:
    """A warning at the start of a program that has run since is not what has ended it."""
    after = "\n".join(f"step {each}" for each in range(LOG_LINES))
    assert error_in(f"{NO_NETWORK}\n{after}") is None
    assert error_in(f"{after}\n{NO_NETWORK}") is not None
    assert error_in("step 1", NO_NETWORK) is not None
    assert error_in() is None

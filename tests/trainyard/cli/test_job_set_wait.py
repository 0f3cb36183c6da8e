"""Waiting for a JobSet, whose Job has the reason of its end, and for a job that is deleted."""

from __future__ import annotations

import pytest
from kubernetes import client

from tests.support.eks import P5, eks_plan
from tests.support.programs import manifests_of, render_training
from tests.support.workload_api import WorkloadApi, condition, workload
from tests.trainyard.cli.test_kubernetes_job_wait import LEADS, Cluster, pods
from trainyard.cli import failures
from trainyard.jobs.nodes import JobRequest
from trainyard.jobs.training import TrainingRequest
from trainyard.schedulers.job_wait import JobWait
from trainyard.schedulers.kubernetes.job_wait import wait_for
from trainyard.workspace.accounts import AwsAccount


@pytest.mark.parametrize(("reason", "exits"), [("PodFailurePolicy", 2), ("DeadlineExceeded", 124)])
def test_a_job_set_fails_for_the_reason_of_its_job(
    monkeypatch: pytest.MonkeyPatch, capsys, reason: str, exits: int
) -> None:
    """The JobSet only says which of its Jobs has failed."""
    at_the_limit = condition(
        "Failed", reason="ReachedMaxRestarts", message="reached max number of restarts"
    )
    running = workload("train", kind="JobSet", status={"restarts": 1})
    failed = workload("train", kind="JobSet", conditions=(at_the_limit,))
    job = workload(
        "train-nodes-0", conditions=(condition("Failed", reason=reason, message="exit code 2"),)
    )
    api = WorkloadApi([running])
    cluster = Cluster((pods("Failed", exit_code=2), None))
    addons = {"nvidia": ("p5",), "efa": ("p5",), "jobset": ("p5",)}
    asked = TrainingRequest(command=("train.py",), image="image")
    text = render_training(eks_plan(P5, self_managed_addons=addons), asked, JobRequest())

    def pause(_seconds: float) -> None:
        api.present = [failed, job]

    monkeypatch.setattr(client, "CoreV1Api", lambda _api: cluster)
    wait = JobWait(pause=pause, now=lambda: 0.0)
    with pytest.raises(failures.JobFailedError) as caught:
        wait_for(api, manifests_of(text), wait, AwsAccount())
    assert "2 Failed, of 2 pods, restarted 1 times" in capsys.readouterr().err
    assert f"ReachedMaxRestarts: reached max number of restarts\n  {reason}: exit code 2" in str(
        caught.value
    )
    assert caught.value.exit_code == {2: failures.WORK_FAILED}.get(exits, exits)


def test_a_job_that_was_deleted_ends_the_wait() -> None:
    with pytest.raises(failures.CommandError, match="was deleted while the command waited"):
        wait_for(WorkloadApi(), [LEADS], JobWait(now=lambda: 0.0), AwsAccount())

"""`run` in a stack with JobSet: one Job in a JobSet, whose pods start again together."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.support.eks import P5, eks_plan
from tests.support.parallelcluster import p4de_plan
from tests.support.programs import (
    manifests_of,
    render_training,
    render_training_directory,
    training_submission,
)
from tests.support.stacks import prepared
from trainyard.jobs.batch_request import BatchRequest
from trainyard.jobs.eks_training import job_set_failures
from trainyard.jobs.job_manifest import spec_of_job
from trainyard.jobs.nodes import JobError, JobRequest
from trainyard.jobs.slurm.nodes import SlurmRequest
from trainyard.jobs.training import TrainingRequest

ADDONS = {"nvidia": ("p5",), "efa": ("p5",), "jobset": ("p5",)}
PLAN = eks_plan(P5, self_managed_addons=ADDONS)
ALONE = eks_plan(P5)
LOST = (
    "Pod default/train-nodes-0-1-x7x9l has condition DisruptionTarget matching FailJob rule at "
    "index 0"
)
EXITED = (
    "Container program for pod default/train-nodes-0-1-x7x9l failed with exit code 1 matching "
    "FailJob rule at index 1"
)
LATE = EXITED.replace("code 1 ", "code 124 ")
"""Messages of `pod_failure_policy.go` of the Job controller."""


def request(**changes: Any) -> TrainingRequest:
    return TrainingRequest(command=("train.py",), **{"image": "pytorch/pytorch:2.11.0", **changes})


def rendered(asked: TrainingRequest, plan: Any = PLAN) -> dict[str, Any]:
    (manifest,) = manifests_of(render_training(plan, asked, JobRequest(nodes=2)))
    return manifest.job


def variables(job: dict[str, Any]) -> dict[str, str]:
    (container,) = spec_of_job(job)["template"]["spec"]["containers"]
    return {each["name"]: each.get("value") for each in container["env"]}


def test_the_manifest_of_a_stack_stays_as_it_is(golden) -> None:
    asked = request(time_limit_minutes=90, restarts=2)
    golden("jobs/train-p5-jobset.yaml", render_training(PLAN, asked, JobRequest(nodes=2)))


def test_a_job_set_makes_the_service_of_its_pods() -> None:
    text = render_training(PLAN, request(files={"train.py": ""}), JobRequest())
    (manifest,) = manifests_of(text)
    assert [each["kind"] for each in manifest.others] == ["ConfigMap"]
    assert (manifest.kind, manifest.pods, manifest.has_leader) == ("JobSet", 2, True)
    assert manifest.pod_selector == "batch.kubernetes.io/job-name=train-nodes-0"
    assert variables(manifest.job)["MASTER_ADDR"] == "train-nodes-0-0.train"


def test_its_job_is_that_of_a_stack_without_it_except_for_names_and_failures() -> None:
    """Neither has a second way to write pods."""
    alone, inside = (spec_of_job(rendered(request(), plan)) for plan in (ALONE, PLAN))
    text = yaml.safe_dump(alone).replace("train-0.train", "train-nodes-0-0.train")
    assert yaml.safe_load(text) == inside


def test_torchrun_leaves_restarts_to_the_job_set() -> None:
    found = variables(rendered(request(restarts=2)))
    assert not {"PET_MAX_RESTARTS", "PET_RDZV_BACKEND"} & found.keys()


@pytest.mark.parametrize("launcher", ["mpi", "none"])
def test_any_launcher_can_restart(launcher: Any) -> None:
    job = rendered(request(launcher=launcher, restarts=3))
    assert job["spec"]["failurePolicy"]["maxRestarts"] == 3


def test_mpi_finds_the_pods_of_the_job_set() -> None:
    text = render_training(PLAN, request(launcher="mpi"), JobRequest(nodes=2))
    assert 'host="train-nodes-0-$index.train"' in text
    assert "batch.kubernetes.io/job-name=train-nodes-0,batch.kubernetes.io/job-completion" in text
    assert "kind: Service\n" not in text


@pytest.mark.parametrize(
    ("render", "remedy"),
    [
        (lambda asked: render_training(ALONE, asked, JobRequest()), "install `addons.jobset`"),
        (lambda asked: render_training_directory(p4de_plan(), asked, SlurmRequest()), ""),
        (
            lambda asked: training_submission(prepared("batch-p5").plan, asked, BatchRequest()),
            "",
        ),
    ],
    ids=["eks", "slurm", "batch"],
)
def test_without_a_job_set_only_torchrun_restarts(render: Any, remedy: str) -> None:
    asked = request(launcher="none", restarts=1, image=None)
    if remedy:
        asked = request(launcher="none", restarts=1)
    with pytest.raises(JobError, match="only torchrun restarts a program") as caught:
        render(asked)
    assert remedy in str(caught.value)


def test_a_job_that_goes_on_with_fewer_nodes_stays_a_job() -> None:
    job = rendered(request(restarts=2, minimum_nodes=1))
    assert job["kind"] == "Job"
    assert variables(job)["PET_RDZV_ENDPOINT"] == "train-0.train:29500"


def test_a_queue_starts_the_job_set() -> None:
    plan = eks_plan(P5, self_managed_addons={**ADDONS, "kueue": ("p5",)})
    job = rendered(request(), plan)
    assert job["kind"] == "JobSet"
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "training"
    assert job["spec"]["suspend"] is True


def action(policy: dict[str, Any], reason: str, message: str = "") -> str:
    """Return the action of the first matching rule, as the controller of JobSet selects it."""
    for rule in policy["rules"]:
        patterns = rule.get("onJobFailureMessagePatterns", [""])
        if reason in rule["onJobFailureReasons"] and any(re.search(p, message) for p in patterns):
            return rule["action"]
    return "RestartJobSet"


@pytest.mark.parametrize("restarts", [0, 2])
@pytest.mark.parametrize(
    ("reason", "message", "without", "limited"),
    [
        pytest.param("PodFailurePolicy", LOST, *["RestartJobSetAndIgnoreMaxRestarts"] * 2, id="n"),
        pytest.param("PodFailurePolicy", EXITED, "FailJobSet", "RestartJobSet", id="program"),
        pytest.param("PodFailurePolicy", LATE, *["FailJobSet"] * 2, id="time-limit"),
        pytest.param("BackoffLimitExceeded", "", *["RestartJobSet"] * 2, id="not-started"),
    ],
)
def test_only_failures_of_the_program_count_as_restarts(
    restarts: int, reason: str, message: str, without: str, limited: str
) -> None:
    policy = job_set_failures(request(restarts=restarts))
    assert policy["maxRestarts"] == restarts
    assert action(policy, reason, message) == (limited if restarts else without)

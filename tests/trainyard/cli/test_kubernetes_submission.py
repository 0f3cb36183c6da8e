"""`job --submit` for EKS: the created objects, their order, and earlier refusals."""

from __future__ import annotations

from typing import Any

import pytest
from kubernetes.client import ApiException

from tests.support.eks import P5, eks_plan
from tests.support.programs import manifests_of, render_training
from tests.support.workload_api import WorkloadApi, condition, workload
from trainyard.cli import failures
from trainyard.jobs.efa_smoke import render_efa_smoke
from trainyard.jobs.nccl import render_nccl_tests
from trainyard.jobs.nodes import JobRequest
from trainyard.jobs.secret_source import KubernetesKey
from trainyard.jobs.training import TrainingRequest
from trainyard.schedulers.job_wait import JobWait
from trainyard.schedulers.kubernetes.cluster import answering
from trainyard.schedulers.kubernetes.submission import create_jobs
from trainyard.stack_files.stack_files import find_stack_file
from trainyard.workspace.accounts import target_of

NAME = "nccl-tests-p5"
MANIFEST = render_nccl_tests(eks_plan(P5), JobRequest()).text
MANAGED = {"app.kubernetes.io/managed-by": "trainyard"}


def submitted(
    cluster: WorkloadApi, manifest: str = MANIFEST, wait: JobWait | None = None
) -> WorkloadApi:
    """Submit the jobs of a manifest to a cluster."""
    create_jobs(
        cluster,
        manifests_of(manifest),
        wait or JobWait(),
        kubectl="kubectl --kubeconfig p5-cb.kubeconfig",
        target=target_of(find_stack_file("p5-cb"), sandbox=False),
    )
    return cluster


def job(
    *, kind: str = "Job", labels: dict[str, str] | None = None, ended: str = ""
) -> dict[str, Any]:
    conditions = (condition(ended),) if ended else ()
    metadata = {"labels": labels} if labels else {}
    return workload(NAME, kind=kind, conditions=conditions, metadata=metadata)


def test_each_job_has_the_objects_of_its_name() -> None:
    (mpi,) = manifests_of(MANIFEST)
    kinds = {each["kind"] for each in mpi.others}
    assert (mpi.name, mpi.namespace) == (NAME, "default")
    assert kinds == {"ServiceAccount", "ConfigMap", "Role", "RoleBinding", "Service"}
    (smoke,) = manifests_of(render_efa_smoke(eks_plan(P5), JobRequest(namespace="vision")).text)
    assert (smoke.name, smoke.namespace, smoke.others) == ("efa-smoke-p5", "vision", ())


def test_pods_start_when_everything_is_there_and_the_job_owns_it(capsys) -> None:
    cluster = submitted(WorkloadApi())
    assert cluster.requests[0] == "create Job"
    assert cluster.requests[-1] == f"patch {NAME} {{'spec': {{'suspend': False}}}}"
    assert len(cluster.requests) == 7
    made, *others = cluster.made
    assert made["spec"]["suspend"] is True
    assert made["metadata"]["labels"].items() >= MANAGED.items()
    owner = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": NAME,
        "uid": "u-1",
        "blockOwnerDeletion": True,
    }
    assert [each["metadata"]["ownerReferences"] for each in others] == [[owner]] * 5
    printed = capsys.readouterr()
    assert printed.out == f"{NAME}\n"
    assert f"logs -n default -l batch.kubernetes.io/job-name={NAME} --prefix" in printed.err


def test_kueue_sees_a_job_when_everything_is_there() -> None:
    """The label hands the job to the queue, which may start it at once."""
    addons = {"nvidia": ("p5",), "efa": ("p5",), "kueue": ("p5",)}
    manifest = render_nccl_tests(eks_plan(P5, self_managed_addons=addons), JobRequest()).text
    cluster = submitted(WorkloadApi(), manifest)
    label = {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "training"}}}
    assert cluster.requests[-1] == f"patch {NAME} {label}"
    made = cluster.made[0]
    assert made["spec"]["suspend"] is True
    assert "kueue.x-k8s.io/queue-name" not in made["metadata"]["labels"]


WITH_SECRET = render_training(
    eks_plan(P5),
    TrainingRequest(
        command=("train.py",), image="i", secrets={"HF_TOKEN": KubernetesKey("hf", "token")}
    ),
    JobRequest(namespace="vision"),
)


@pytest.mark.parametrize(
    ("secrets", "says"),
    [
        ({}, "vision has no Secret hf; make it .* create secret generic hf -n vision --from-file="),
        ({"hf": ["value", "user"]}, "hf in the namespace vision has no key token; it has: user, v"),
        ({"hf": []}, "it has: none"),
    ],
)
def test_a_job_whose_secret_does_not_exist_is_not_submitted(
    secrets: dict[str, list[str]], says: str
) -> None:
    """Its pods would never start. The run before it stays too."""
    cluster = WorkloadApi(secrets=secrets)
    with pytest.raises(failures.CommandError, match=says):
        submitted(cluster, WITH_SECRET)
    assert cluster.requests == []


@pytest.mark.parametrize("secrets", [{"hf": ["token"]}, None])
def test_a_user_who_may_not_read_secrets_submits_the_job(secrets: Any, capsys) -> None:
    cluster = submitted(WorkloadApi(secrets=secrets), WITH_SECRET)
    assert cluster.requests[0] == "create Job"
    assert "planted" not in f"{cluster.made} {capsys.readouterr()}"
    assert "cGxhbnRlZA" not in f"{cluster.made} {capsys.readouterr()}"


def in_namespace(namespace: str) -> str:
    return render_efa_smoke(eks_plan(P5), JobRequest(namespace=namespace)).text


def test_a_namespace_that_does_not_exist_is_named_before_anything_is_deleted() -> None:
    cluster = WorkloadApi(namespaces=["default", "audio"])
    says = (
        "^the cluster has no namespace vision; name another one with --namespace, or create it:  "
        "kubectl --kubeconfig p5-cb.kubeconfig create namespace vision$"
    )
    with pytest.raises(failures.WrongUseError, match=says):
        submitted(cluster, in_namespace("vision"))
    assert cluster.requests == []


@pytest.mark.parametrize("namespaces", [["vision"], None])
def test_a_namespace_that_exists_or_may_not_be_read_gets_the_job(namespaces: Any) -> None:
    assert submitted(WorkloadApi(namespaces=namespaces), in_namespace("vision")).made


@pytest.mark.parametrize("request_at", ["create Role", "patch"])
def test_an_interrupted_submission_leaves_no_job_that_waits_for_ever(request_at: str) -> None:
    """The next try would be refused, because a job of the name has not ended."""
    cluster = WorkloadApi(interrupted_at=request_at)
    with pytest.raises(KeyboardInterrupt):
        submitted(cluster)
    assert cluster.requests[-1] == f"delete Job {NAME} Background"


def test_a_run_that_has_ended_is_replaced() -> None:
    cluster = submitted(WorkloadApi([job(labels=MANAGED, ended="Failed")]))
    assert cluster.requests[:2] == [f"delete Job {NAME} Foreground", "create Job"]


def test_a_run_from_before_the_add_on_was_installed_is_replaced() -> None:
    previous = job(kind="JobSet", labels=MANAGED, ended="Completed")
    cluster = submitted(WorkloadApi([previous]))
    assert cluster.requests[:2] == [f"delete JobSet {NAME} Foreground", "create Job"]


@pytest.mark.parametrize(
    ("present", "says"),
    [
        pytest.param(job(labels=MANAGED), "has not ended; wait for it, or delete it", id="runs"),
        pytest.param(job(ended="Complete"), "neither `job` nor `run` has created", id="foreign"),
    ],
)
def test_a_job_that_runs_or_is_foreign_is_not_touched(present, says: str) -> None:
    cluster = WorkloadApi([present])
    with pytest.raises(failures.CommandError, match=says) as caught:
        submitted(cluster)
    assert cluster.requests == []
    assert f"p5-cb.kubeconfig delete -n default job {NAME}" in str(caught.value)


@pytest.mark.parametrize(
    ("status", "says"),
    [(409, "delete them:  kubectl .* delete -n default serviceaccount,"), (403, "403 Conflict")],
)
def test_a_job_whose_objects_are_refused_is_removed(status: int, says: str) -> None:
    cluster = WorkloadApi(refused=status)
    with pytest.raises(failures.CommandError, match=says):
        submitted(cluster)
    assert cluster.requests[-1] == f"delete Job {NAME} Background"


def test_a_previous_run_that_does_not_go_ends_the_command() -> None:
    cluster = WorkloadApi([job(labels=MANAGED, ended="Complete")], keeps=True)
    paused: list[float] = []
    with pytest.raises(failures.CommandError, match="do not end"):
        submitted(cluster, wait=JobWait(pause=paused.append))
    assert sum(paused) == 120


def test_an_error_of_the_api_server_is_a_sentence() -> None:
    refused = pytest.raises(failures.CommandError, match=r"cluster p5-cb .*: 403 Forbidden")
    with refused, answering("p5-cb"):
        raise ApiException(status=403, reason="Forbidden")

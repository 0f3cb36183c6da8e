"""Secrets of programs: where they are, and that a job has the place and never the value."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.support.eks import P5, eks_plan
from tests.support.parallelcluster import p4de_plan
from tests.support.programs import (
    manifests_of,
    render_training,
    render_training_directory,
    training_submission,
)
from tests.support.stacks import prepared
from trainyard.components.batch.plan import BatchPlan
from trainyard.jobs.batch_request import BatchRequest
from trainyard.jobs.job_manifest import spec_of_job
from trainyard.jobs.nodes import JobError, JobRequest
from trainyard.jobs.secret_source import (
    HeadNodeFile,
    KubernetesKey,
    SecretArn,
    secret_source,
    secret_sources,
)
from trainyard.jobs.slurm.nodes import SlurmRequest
from trainyard.jobs.training import TrainingRequest

ARN = "arn:aws:secretsmanager:us-west-2:123456789012:secret:team/hf-AbCdEf"
PARAMETER = "arn:aws:ssm:us-west-2:123456789012:parameter/team/hf"
TOKEN = "HF_TOKEN"
IN_KUBERNETES = {TOKEN: KubernetesKey("hf", "token")}
IN_A_FILE = {TOKEN: HeadNodeFile("~/.secrets/hf")}
IN_AWS = {TOKEN: SecretArn(ARN)}


def request(**changes: Any) -> TrainingRequest:
    return TrainingRequest(**{"command": ("train.py",), **changes})


def batch_plan(nodes: int = 1, *, secrets: dict[str, str] | None = None) -> BatchPlan:
    """Return a stack of AWS Batch whose only job definition has these secrets."""
    plan = prepared("batch-p5").plan
    assert isinstance(plan, BatchPlan)
    (definition,) = (each for each in plan.job_definitions if each.name == "nccl-tests")
    container = replace(definition.container, secrets=secrets or {})
    definition = replace(definition, container=container, nodes=nodes)
    return replace(plan, job_definitions=(definition,))


@pytest.mark.parametrize(
    ("reference", "source"),
    [
        ("secret/hf/token", KubernetesKey("hf", "token")),
        ("secret/team.hf/HF.TOKEN_1", KubernetesKey("team.hf", "HF.TOKEN_1")),
        (ARN, SecretArn(ARN)),
        (f"{ARN}:token::", SecretArn(f"{ARN}:token::")),
        (f"{ARN}:::9d4cb84b-ad69-40c0-a0ab-cead36b967e8", None),
        ("arn:aws-cn:secretsmanager:cn-north-1:123456789012:secret:hf-AbCdEf", None),
        (PARAMETER, SecretArn(PARAMETER)),
        ("/home/ubuntu/.secrets/hf", HeadNodeFile("/home/ubuntu/.secrets/hf")),
        ("~/.secrets/hf", HeadNodeFile("~/.secrets/hf")),
    ],
)
def test_a_reference_names_one_place(reference: str, source: Any) -> None:
    assert secret_source(reference) == (source or SecretArn(reference))


def test_the_parts_of_an_arn_are_those_of_ecs() -> None:
    """`valueFrom`: ARN, then key of the JSON document, stage and id of the version."""
    found = SecretArn(f"{ARN}:token:AWSPREVIOUS:")
    assert (found.arn, found.json_key) == (ARN, "token")
    assert (found.service, found.region) == ("secretsmanager", "us-west-2")
    assert (SecretArn(ARN).json_key, SecretArn(PARAMETER).arn) == ("", PARAMETER)
    assert (SecretArn(ARN).parameter, SecretArn(PARAMETER).parameter) == ("", "/team/hf")


@pytest.mark.parametrize(
    "pasted",
    [
        "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
        "correct horse battery staple",
        "",
        "secret/hf",
        "secret/HF/token",
        "secret/hf/to/ken",
        "secrets/x",
        ".secrets/hf",
        "/home/../etc/shadow",
        "/home/x;rm",
        "~root/.secrets/hf",
        "arn:aws:secretsmanager:us-west-2:123456789012:secret:hf",
        f"{ARN}:token",
        "arn:aws:iam::123456789012:role/x",
    ],
)
def test_what_is_no_place_is_refused_without_being_repeated(pasted: str) -> None:
    """Somebody may have written the secret itself."""
    with pytest.raises(JobError) as refused:
        secret_sources([(TOKEN, pasted)])
    said = str(refused.value)
    assert TOKEN in said
    assert "secret/NAME/KEY" in said
    assert not pasted or pasted not in said


def test_a_secret_is_no_plain_variable_at_the_same_time() -> None:
    with pytest.raises(JobError, match="HF_TOKEN cannot be both a secret and a variable"):
        request(secrets=IN_KUBERNETES, environment={TOKEN: "x"})
    with pytest.raises(JobError, match="HF-TOKEN cannot be names"):
        request(secrets={"HF-TOKEN": KubernetesKey("hf", "token")})


@pytest.mark.parametrize("launcher", ["torchrun", "mpi", "none"])
@pytest.mark.parametrize("addons", [{}, {"jobset": ("p5",)}, {"kueue": ("p5",)}])
def test_every_pod_of_every_kind_of_job_refers_to_the_secret(
    launcher: Any, addons: dict[str, Any]
) -> None:
    addons = {"nvidia": ("p5",), "efa": ("p5",), **addons}
    asked = request(image="i", launcher=launcher, secrets=IN_KUBERNETES)
    text = render_training(eks_plan(P5, self_managed_addons=addons), asked, JobRequest(nodes=2))
    (manifest,) = manifests_of(text)
    (container,) = spec_of_job(manifest.job)["template"]["spec"]["containers"]
    (found,) = (each for each in container["env"] if each["name"] == TOKEN)
    reference = {"secretKeyRef": {"name": "hf", "key": "token"}}
    assert found == {"name": TOKEN, "valueFrom": reference}
    assert manifest.secret_keys == {("hf", "token")}


def test_all_processes_of_mpi_get_the_secret_by_its_name() -> None:
    asked = request(image="i", launcher="mpi", secrets=IN_KUBERNETES)
    assert f"-x {TOKEN}" in render_training(eks_plan(P5), asked, JobRequest(nodes=2))
    plan = batch_plan(2, secrets={TOKEN: ARN})
    submitted = training_submission(plan, request(launcher="mpi"), BatchRequest())
    assert f"-x {TOKEN}" in json.dumps(submitted.request)


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_job_of_batch_has_the_secrets_of_its_definition(nodes: int) -> None:
    """SubmitJob has no field for secrets."""
    plan = batch_plan(nodes, secrets={TOKEN: ARN})
    for asked in (request(secrets=IN_AWS), request()):
        submitted = training_submission(plan, asked, BatchRequest())
        assert submitted.secrets == {TOKEN: ARN}
        assert TOKEN not in json.dumps(submitted.request)


def test_a_secret_that_the_definition_does_not_have_comes_into_the_stack_file() -> None:
    with pytest.raises(JobError) as refused:
        training_submission(batch_plan(), request(secrets=IN_AWS), BatchRequest())
    assert "role may read no others" in str(refused.value)
    assert f'job_definitions.nccl-tests.secrets:\n    {TOKEN}: "{ARN}"' in str(refused.value)
    plan = batch_plan(secrets={TOKEN: PARAMETER})
    with pytest.raises(JobError, match="role may read no others"):
        training_submission(plan, request(secrets=IN_AWS), BatchRequest())
    with pytest.raises(JobError, match="it is a secret of the job definition nccl-tests"):
        training_submission(plan, request(environment={TOKEN: "x"}), BatchRequest())


@pytest.mark.parametrize(
    ("secrets", "make", "name"),
    [
        pytest.param(
            IN_AWS,
            f"--secret-id {ARN} --query SecretString --output text | tr -d '\\n' | kubectl create "
            "secret generic hf-token --from-file=value=/dev/stdin",
            "--secret HF_TOKEN=secret/hf-token/value",
            id="secretsmanager",
        ),
        pytest.param(
            {TOKEN: SecretArn(f"{ARN}:token::")}, "| jq -r '.token'", "hf-token/value", id="key"
        ),
        pytest.param(
            {TOKEN: SecretArn(PARAMETER)},
            "aws ssm get-parameter --region us-west-2 --name /team/hf --with-decryption",
            "hf-token/value",
            id="parameter",
        ),
        pytest.param(IN_A_FILE, "cat ~/.secrets/hf | tr", "hf-token/value", id="file"),
    ],
)
def test_a_pod_takes_secrets_of_kubernetes_only(
    secrets: dict[str, Any], make: str, name: str
) -> None:
    with pytest.raises(JobError) as refused:
        render_training(eks_plan(P5), request(image="i", secrets=secrets), JobRequest())
    assert "EKS takes secrets from Kubernetes" in str(refused.value)
    assert make in str(refused.value)
    assert name in str(refused.value)


@pytest.mark.parametrize("secrets", [IN_KUBERNETES, IN_A_FILE])
def test_a_container_of_batch_takes_secrets_of_aws_only(secrets: dict[str, Any]) -> None:
    with pytest.raises(JobError) as refused:
        training_submission(batch_plan(), request(secrets=secrets), BatchRequest())
    assert "aws secretsmanager create-secret --name hf-token" in str(refused.value)
    assert "--secret HF_TOKEN=ARN" in str(refused.value)


@pytest.mark.parametrize("secrets", [IN_KUBERNETES, IN_AWS])
def test_a_job_of_slurm_takes_secrets_of_files_only(secrets: dict[str, Any]) -> None:
    with pytest.raises(JobError) as refused:
        render_training_directory(p4de_plan(), request(secrets=secrets), SlurmRequest())
    assert "(umask 077; mkdir -p ~/.secrets; " in str(refused.value)
    assert "--secret 'HF_TOKEN=~/.secrets/hf-token'" in str(refused.value)


def test_a_file_that_the_nodes_do_not_share_is_refused() -> None:
    """`--secret NAME=~/FILE` without quotes has the home directory of this machine in Bash."""
    secrets = {TOKEN: HeadNodeFile("/root/.secrets/hf")}
    with pytest.raises(JobError, match=r"--secret 'HF_TOKEN=~/hf'"):
        render_training_directory(p4de_plan(), request(secrets=secrets), SlurmRequest())


def test_a_container_of_slurm_gets_the_secret_by_its_name() -> None:
    asked = request(image="i", secrets={**IN_A_FILE, "WANDB": HeadNodeFile("/home/u/w")})
    job, _ = render_training_directory(p4de_plan(), asked, SlurmRequest())
    assert " --container-env=HF_TOKEN,WANDB" in job.files["train.sbatch"]


def test_a_job_without_secrets_is_as_before() -> None:
    job, _ = render_training_directory(p4de_plan(), request(), SlurmRequest())
    assert "secrets.sh" not in job.files
    assert "secretKeyRef" not in render_training(eks_plan(P5), request(image="i"), JobRequest())

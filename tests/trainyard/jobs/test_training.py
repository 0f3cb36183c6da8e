"""A program on all accelerators, under each scheduler."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml

from tests.support.eks import P5, SHARED_LUSTRE, eks_plan, nodes_of
from tests.support.programs import manifests_of, render_training, training_submission
from tests.support.stacks import prepared
from trainyard.components.batch.plan import BatchPlan
from trainyard.components.catalog.instance_types import instance_type
from trainyard.jobs.batch_request import BatchRequest
from trainyard.jobs.dcgm_diag import render_dcgm_diag
from trainyard.jobs.efa_smoke import render_efa_smoke
from trainyard.jobs.job_manifest import spec_of_job
from trainyard.jobs.nccl import render_nccl_tests
from trainyard.jobs.nodes import JobError, JobRequest
from trainyard.jobs.training import TrainingRequest, launch_command, node_environment

IMAGE = "pytorch/pytorch:2.11.0"


def stack(name: str) -> BatchPlan:
    plan = prepared(name).plan
    assert isinstance(plan, BatchPlan)
    return plan


def variables(override: dict[str, Any]) -> dict[str, str]:
    listed = override["containerOverrides"]["environment"]
    return {each["name"]: each["value"] for each in listed}


def request(*command: str, **changes: Any) -> TrainingRequest:
    return TrainingRequest(command=command or ("train.py",), **changes)


@pytest.mark.parametrize(
    ("command", "launched"),
    [
        (["train.py", "--lr", "1"], ["torchrun", "train.py", "--lr", "1"]),
        (["python", "train.py"], ["torchrun", "train.py"]),
        (["python3.12", "-u", "train.py"], ["torchrun", "train.py"]),
        (["python", "-m", "train.main"], ["torchrun", "-m", "train.main"]),
        (["-m", "train.main"], ["torchrun", "-m", "train.main"]),
        (["bash", "run.sh"], ["torchrun", "--no-python", "bash", "run.sh"]),
    ],
)
def test_torchrun_starts_python_files_modules_and_other_programs(
    command: list[str], launched: list[str]
) -> None:
    assert launch_command(request(*command)) == launched
    if command[0] != "-m":
        assert launch_command(request(*command, launcher="none")) == command


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"name": "My_Job"}, "is no name of a job"),
        ({"name": "a" * 33}, "is no name of a job"),
        ({"environment": {"A B": "1"}}, "A B cannot be names"),
        ({"command": ()}, "there is no program to run"),
        ({"restarts": 10}, "at most 9 are possible"),
        ({"minimum_nodes": 1}, "needs `restarts`"),
        ({"files": {"../a": ""}}, "not: ../a"),
        ({"files": {"a": "x" * (1 << 20), "b": "x"}}, "more than 1 MiB"),
        ({"files": {"a/../b": ""}}, r"not: a/\.\./b"),
        ({"files": {"/a": ""}}, "not: /a"),
        ({"image": ""}, "the image '' is empty; write"),
        ({"image": "ghcr.io/X/y:1"}, "capitals in its path X/y, .*; write ghcr.io/x/y:1"),
        ({"image": "dockerd://x:y"}, "daemon of one machine, .*; push the image to a registry"),
    ],
)
def test_what_cannot_become_a_job_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(JobError, match=says):
        TrainingRequest(**{"command": ("train.py",), **changes})


@pytest.mark.parametrize(
    ("type_name", "processes", "network"),
    [("p5.48xlarge", "8", "NCCL_NET"), ("trn1.32xlarge", "32", "FI_PROVIDER")],
)
def test_each_accelerator_has_a_process_and_the_network_is_efa(
    type_name: str, processes: str, network: str
) -> None:
    accelerators = instance_type(type_name).accelerators
    assert accelerators is not None
    of = {"devices": accelerators.count, "nodes": 4}
    found = node_environment(request(), accelerators, efa_interfaces=8, **of)
    assert (found["PET_NPROC_PER_NODE"], found["PET_NNODES"]) == (processes, "4")
    assert network in found
    own = request(environment={network: "mine"})
    assert node_environment(own, accelerators, efa_interfaces=8, **of)[network] == "mine"
    assert "FI_PROVIDER" not in node_environment(request(), accelerators, efa_interfaces=0, **of)


def test_the_manifest_of_a_stack_stays_as_it_is(golden) -> None:
    asked = request("train.py", image=IMAGE, time_limit_minutes=90)
    golden("jobs/train-p5.yaml", render_training(eks_plan(P5), asked, JobRequest(nodes=2)))


@pytest.mark.parametrize("launcher", ["torchrun", "mpi"])
def test_pods_end_in_time_whenever_a_queue_starts_them(launcher: Any) -> None:
    """A deadline of the Job would count from when it was resumed, or from its last restart."""
    at = datetime(2026, 11, 27, 10, 45, tzinfo=UTC)
    asked = request(image=IMAGE, time_limit_minutes=90, stops_at=at, launcher=launcher)
    (manifest,) = manifests_of(render_training(eks_plan(P5), asked, JobRequest()))
    spec = manifest.job["spec"]
    assert "activeDeadlineSeconds" not in spec
    (container,) = spec["template"]["spec"]["containers"]
    found = {each["name"]: each.get("value") for each in container["env"]}
    limits = (found["TIME_LIMIT_SECONDS"], found["STOP_TIME"])
    assert limits == ("5400", str(int(at.timestamp())))
    assert "left=$((STOP_TIME - now))" in container["command"][2]


def test_a_program_has_the_rights_of_a_test() -> None:
    """Devices read locked memory, which a test could lock and a program could not."""
    text = render_training(eks_plan(P5), request(image=IMAGE), JobRequest())
    manifests = [*manifests_of(text)]
    for render in (render_efa_smoke, render_nccl_tests, render_dcgm_diag):
        manifests += render(eks_plan(P5), JobRequest()).jobs
    for each in manifests:
        (container,) = spec_of_job(each.job)["template"]["spec"]["containers"]
        assert container["securityContext"] == {"capabilities": {"add": ["IPC_LOCK"]}}


def test_a_job_with_restarts_outlives_its_nodes() -> None:
    asked = request(image=IMAGE, name="llm", restarts=2, minimum_nodes=1)
    _, job = yaml.safe_load_all(render_training(eks_plan(P5), asked, JobRequest(nodes=2)))
    spec = job["spec"]
    assert "backoffLimit" not in spec
    assert (spec["backoffLimitPerIndex"], spec["maxFailedIndexes"]) == (2, 0)
    assert spec["successPolicy"] == {"rules": [{"succeededCount": 1}]}
    (container,) = spec["template"]["spec"]["containers"]
    found = {each["name"]: each.get("value") for each in container["env"]}
    assert found["PET_RDZV_BACKEND"] == "c10d"
    assert found["PET_RDZV_ENDPOINT"] == "llm-0.llm:29500"
    assert (found["PET_NNODES"], found["PET_MAX_RESTARTS"]) == ("1:2", "2")


def test_file_systems_are_mounted_where_the_job_wants_them() -> None:
    plan = replace(eks_plan(P5), file_systems=(SHARED_LUSTRE,))
    asked = request(image=IMAGE, mounts={"data": "/x"}, checkpoint_directory="/x/checkpoints")
    _, job = yaml.safe_load_all(render_training(plan, asked, JobRequest()))
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert {"name": "data", "mountPath": "/x"} in container["volumeMounts"]
    assert {"name": "CHECKPOINT_DIRECTORY", "value": "/x/checkpoints"} in container["env"]
    by_default = request(image=IMAGE, checkpoint_directory="/mnt/data/checkpoints")
    assert "/mnt/data" in render_training(plan, by_default, JobRequest())


def test_files_are_in_the_working_directory_of_the_pods() -> None:
    asked = request(image=IMAGE, files={"train.py": "print(1)\n"})
    _, files, job = yaml.safe_load_all(render_training(eks_plan(P5), asked, JobRequest()))
    assert (files["kind"], files["data"]) == ("ConfigMap", {"train.py": "print(1)\n"})
    spec = job["spec"]["template"]["spec"]
    assert {"name": "files", "configMap": {"name": files["metadata"]["name"]}} in spec["volumes"]
    (container,) = spec["containers"]
    mount = {"name": "files", "mountPath": container["workingDir"]}
    assert mount in container["volumeMounts"]


@pytest.mark.parametrize("launcher", ["torchrun", "mpi"])
def test_a_file_in_a_subdirectory_has_its_path_in_the_pods(launcher: Any) -> None:
    """Keys of a ConfigMap have no `/`, and the kubelet writes each at the path of its item.

    https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/volume/#items
    """
    given = {"src/train.py": "1", "src/configs/a_b.yaml": "2", "model.py": "3"}
    asked = request("python", "src/train.py", image=IMAGE, files=given, launcher=launcher)
    documents = [*yaml.safe_load_all(render_training(eks_plan(P5), asked, JobRequest()))]
    (data,) = [each["data"] for each in documents if each["kind"] == "ConfigMap"]
    assert all(re.fullmatch("[-._a-zA-Z0-9]+", key) for key in data)
    (volume,) = [
        each
        for each in documents[-1]["spec"]["template"]["spec"]["volumes"]
        if each["name"] == "files"
    ]
    items = volume["configMap"]["items"]
    assert {each["path"]: data[each["key"]] for each in items} == given


@pytest.mark.parametrize("text", ["nvcr.io#nvidia/pytorch:1", "nvcr.io/nvidia/pytorch:1"])
def test_every_spelling_of_an_image_works_in_pods_and_in_batch(text: str) -> None:
    asked = request(image=text)
    (manifest,) = manifests_of(render_training(eks_plan(P5), asked, JobRequest()))
    (container,) = spec_of_job(manifest.job)["template"]["spec"]["containers"]
    assert container["image"] == "nvcr.io/nvidia/pytorch:1"
    plan = stack("batch-p5")
    (definition,) = plan.job_definitions
    own = replace(definition.container, image="nvcr.io/nvidia/pytorch:1")
    plan = replace(plan, job_definitions=(replace(definition, container=own),))
    assert training_submission(plan, asked, BatchRequest()).request


@pytest.mark.parametrize("text", ["./x.sqsh", "/fsx/x.sqsh", "me@nvcr.io#nvidia/pytorch:1"])
def test_what_only_enroot_starts_is_refused_elsewhere(text: str) -> None:
    with pytest.raises(JobError, match="which only Enroot"):
        render_training(eks_plan(P5), request(image=text), JobRequest())
    with pytest.raises(JobError, match="which only Enroot"):
        training_submission(stack("batch-p5"), request(image=text), BatchRequest())


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"checkpoint_directory": "/tmp/x"}, "is lost with its node; use a directory in /mnt/data"),
        ({"mounts": {"other": "/x"}}, "`mounts` names other, but the file systems of"),
        ({"minimum_nodes": 3, "restarts": 1}, "`minimum_nodes` is 3, but the job has 2 nodes"),
    ],
)
def test_what_the_stack_does_not_have_is_refused(changes: dict[str, Any], says: str) -> None:
    plan = replace(eks_plan(P5), file_systems=(SHARED_LUSTRE,))
    with pytest.raises(JobError, match=says):
        render_training(plan, request(image=IMAGE, **changes), JobRequest())


def test_the_first_pod_has_the_log_and_the_address() -> None:
    text = render_training(eks_plan(P5), request(image=IMAGE, name="llm"), JobRequest())
    (manifest,) = manifests_of(text)
    assert manifest.has_leader
    assert [each["kind"] for each in manifest.others] == ["Service"]
    (container,) = manifest.job["spec"]["template"]["spec"]["containers"]
    found = {each["name"]: each.get("value") for each in container["env"]}
    assert found["MASTER_ADDR"] == found["PET_MASTER_ADDR"] == "llm-0.llm"


def test_a_pod_needs_an_image_and_may_be_for_arm() -> None:
    with pytest.raises(JobError, match="name one with --image"):
        render_training(eks_plan(P5), request(), JobRequest())
    arm = eks_plan(nodes_of("g5g.8xlarge"))
    text = render_training(arm, request(image=IMAGE), JobRequest())
    assert "g5g.8xlarge" in text


def test_several_kinds_of_nodes_need_a_name() -> None:
    both = eks_plan(nodes_of("p5.48xlarge"), nodes_of("trn1.32xlarge"))
    with pytest.raises(JobError, match="several node groups with accelerators; name one with --gr"):
        render_training(both, request(image=IMAGE), JobRequest())


def test_a_batch_job_runs_in_its_definition_on_all_nodes() -> None:
    wanted = request("train.py", time_limit_minutes=2)
    made = training_submission(stack("batch-p5"), wanted, BatchRequest(nodes=2)).request
    # The program has five minutes after SIGTERM, and Batch ends what has not ended then.
    assert made["timeout"] == {"attemptDurationSeconds": 120 + 300 + 60}
    (everywhere,) = made["nodeOverrides"]["nodePropertyOverrides"]
    assert everywhere["targetNodes"] == "0:"
    assert everywhere["containerOverrides"]["command"][-2:] == ["torchrun", "train.py"]
    assert variables(everywhere)["NCCL_NET"] == "AWS Libfabric"
    neuron = training_submission(stack("batch-trn1"), request(), BatchRequest()).request
    (everywhere,) = neuron["nodeOverrides"]["nodePropertyOverrides"]
    assert variables(everywhere)["PET_NPROC_PER_NODE"] == "32"
    assert variables(everywhere)["FI_PROVIDER"] == "efa"


def test_batch_starts_the_whole_job_again() -> None:
    made = training_submission(stack("batch-p5"), request(restarts=3), BatchRequest()).request
    out_of_time = {"action": "EXIT", "onExitCode": "124"}
    assert made["retryStrategy"] == {"attempts": 4, "evaluateOnExit": [out_of_time]}
    (everywhere,) = made["nodeOverrides"]["nodePropertyOverrides"]
    assert "PET_RDZV_BACKEND" not in variables(everywhere)


def test_batch_starts_a_job_without_restarts_again_only_after_a_lost_node() -> None:
    made = training_submission(stack("batch-p5"), request(), BatchRequest()).request
    assert made["retryStrategy"] == {
        "attempts": 4,
        "evaluateOnExit": [
            {"action": "RETRY", "onStatusReason": "Host EC2*"},
            {"action": "EXIT", "onReason": "*"},
        ],
    }
    assert "timeout" not in made


@pytest.mark.parametrize(
    ("name", "asked", "says"),
    [
        ("batch-p5", request(minimum_nodes=1, restarts=1), "`minimum_nodes` is for EKS"),
        ("batch-p5", request(mounts={"data": "/x"}), "`mounts` is for EKS and Slurm"),
        ("batch-p5", request(checkpoint_directory="/x"), "write checkpoints to S3"),
        ("batch-p5", request(files={"a": ""}), "put the files into the image of the job def"),
        ("batch-p5", request(image=IMAGE), "the image of a Batch job is that of its job definit"),
        ("batch-p4d", request(), "has 2 job definitions"),
        ("batch-p5", request("x" * 9000), "more than 8192 characters"),
    ],
)
def test_what_batch_cannot_run_is_refused(name: str, asked: TrainingRequest, says: str) -> None:
    with pytest.raises(JobError, match=says):
        training_submission(stack(name), asked, BatchRequest())


def test_an_unknown_job_definition_is_answered_with_those_there_are() -> None:
    with pytest.raises(JobError, match="no job definition 'x'; there is: nccl-tests"):
        training_submission(stack("batch-p5"), request(), BatchRequest(definition="x"))


@pytest.mark.parametrize(
    ("given", "rank", "address"),
    [
        ({"AWS_BATCH_JOB_NODE_INDEX": "0"}, "0", "127.0.0.1"),
        (
            {
                "AWS_BATCH_JOB_NODE_INDEX": "3",
                "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS": "10.0.0.7",
            },
            "3",
            "10.0.0.7",
        ),
        ({}, "0", "127.0.0.1"),
    ],
)
def test_a_node_of_batch_knows_its_rank_and_the_main_node(
    given: dict[str, str], rank: str, address: str
) -> None:
    bash = shutil.which("bash")
    assert bash is not None
    show = 'echo "$NODE_RANK $PET_NODE_RANK $MASTER_ADDR $PET_MASTER_ADDR $1"'
    asked = request(bash, "-c", show, "program", "an argument", launcher="none")
    made = training_submission(stack("batch-p5"), asked, BatchRequest()).request
    (everywhere,) = made["nodeOverrides"]["nodePropertyOverrides"]
    _, *words = everywhere["containerOverrides"]["command"]
    done = subprocess.run([bash, *words], env=given, text=True, capture_output=True, check=True)
    assert done.stdout == f"{rank} {rank} {address} {address} an argument\n"

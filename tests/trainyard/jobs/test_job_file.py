"""Job files: what they contain, and the problems of wrong ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tests.support.eks import P5, SHARED_LUSTRE, eks_plan, nodes_of
from tests.support.programs import render_training
from tests.support.tracked import ROOT
from trainyard.components.config.problems import ConfigError
from trainyard.components.eks.node_group_plan import NodeGroupPlan
from trainyard.jobs.job_file import JobFile, read_job_file
from trainyard.jobs.nodes import JobRequest
from trainyard.jobs.secret_source import KubernetesKey
from trainyard.jobs.training import TrainingRequest
from trainyard.stack_files.yaml_limits import UnreadableYamlError

WHOLE = """\
name: llm
image: pytorch/pytorch:2.11.0
command: python train.py --name "a b"
nodes: 4
minimum_nodes: 3
environment: {LR: "0.1"}
secrets: {HF_TOKEN: secret/hf/token}
mounts: {data: /data}
checkpoint_directory: /data/checkpoints
restarts: 2
time_limit_minutes: 90
launcher: torchrun
files: [train.py]
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "train.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_key_of_a_job_file_is_read(tmp_path: Path) -> None:
    found = read_job_file(written(tmp_path, WHOLE)).given()
    assert found.keys() == JobFile.model_fields.keys()
    assert found.pop("nodes") == 4
    assert found.pop("files") == ["train.py"]
    request = TrainingRequest(**found)
    assert request.command == ["python", "train.py", "--name", "a b"]
    assert request.mounts == {"data": "/data"}
    assert request.secrets == {"HF_TOKEN": KubernetesKey("hf", "token")}


@pytest.mark.parametrize(
    ("name", "group", "processes"),
    [("gpu", P5, "8"), ("trainium", nodes_of("trn2.48xlarge"), "64")],
)
def test_the_example_jobs_run_on_a_stack_with_a_file_system(
    name: str, group: NodeGroupPlan, processes: str
) -> None:
    directory = ROOT / "examples" / "pretrain"
    job = {"image": "torchneuron", **read_job_file(directory / f"{name}.yaml").given()}
    files = {each: (directory / each).read_text(encoding="utf-8") for each in job["files"]}
    plan = replace(eks_plan(group), file_systems=(replace(SHARED_LUSTRE, name="fsx"),))
    request = TrainingRequest(**{**job, "files": files})
    _, _, rendered = yaml.safe_load_all(render_training(plan, request, JobRequest()))
    (container,) = rendered["spec"]["template"]["spec"]["containers"]
    found = {each["name"]: each.get("value") for each in container["env"]}
    assert found["PET_NPROC_PER_NODE"] == processes
    assert found["CHECKPOINT_DIRECTORY"] == "/mnt/data/pretrain"


def test_what_a_file_omits_is_left_to_the_command(tmp_path: Path) -> None:
    path = written(tmp_path, "command: [train.py, 'a b']\nimage:\n")
    assert read_job_file(path).given() == {"command": ["train.py", "a b"]}


@pytest.mark.parametrize(
    ("line", "key", "says", "fix"),
    [
        ("comand: train.py", "comand", "nearest is `command`", "rename it to `command`, or"),
        ("zzz: 1", "zzz", "is not a key of a job", "remove it"),
        ("nodes: 0", "nodes", "greater than or equal to 1", "change the value"),
        ("nodes: '2'", "nodes", "valid integer", "change the value"),
        ("environment: {LR: 1}", "environment.LR", "valid string", 'write it in quotes: "1"'),
        ("mounts: {data: x}", "mounts.data", "is not an absolute path", "such as /mnt/data"),
        ("checkpoint_directory: x", "checkpoint_directory", "an absolute path", "/mnt/data"),
        ("command: train.py 'x", "command", "cannot be split into words", "change the value"),
        ("image: ''", "image", "is empty", "REGISTRY/PATH:TAG"),
        ("image: X Y", "image", "contains a blank", "REGISTRY/PATH:TAG"),
        ("image: ghcr.io/X/y:1", "image", "capitals in its path", "write ghcr.io/x/y:1"),
        ("image: hello.sqsh", "image", "without a path", "./hello.sqsh"),
        ("command: []", "command", "at least 1 item", "change the value"),
        ("restarts: 10", "restarts", "less than or equal to 9", "change the value"),
        ("launcher: x", "launcher", "'torchrun', 'mpi' or 'none'", "change the value"),
    ],
)
def test_a_wrong_value_has_its_key_and_a_fix(
    tmp_path: Path, line: str, key: str, says: str, fix: str
) -> None:
    with pytest.raises(ConfigError) as failed:
        read_job_file(written(tmp_path, line))
    (problem,) = failed.value.problems
    assert problem.path == key
    assert says in problem.problem
    assert fix in problem.remedy


def test_a_secret_that_somebody_wrote_into_the_file_is_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as failed:
        read_job_file(written(tmp_path, "secrets: {KEY: correct-horse, OTHER: [battery]}"))
    assert "secrets.KEY" in str(failed.value)
    assert "secret/NAME/KEY" in str(failed.value)
    assert "correct-horse" not in str(failed.value)
    assert "battery" not in str(failed.value)


def test_all_problems_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"train\.yaml: 3 problems; nothing was changed"):
        read_job_file(written(tmp_path, "nodes: 0\nrestarts: -1\nx: 1\n"))


@pytest.mark.parametrize("text", ["", "- train.py", "a: b: c"])
def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UnreadableYamlError, match=r"train\.yaml"):
        read_job_file(written(tmp_path, text))

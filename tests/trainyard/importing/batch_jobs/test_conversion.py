"""Objects of AWS Batch become those of a stack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.importing import at, fates, read_text
from trainyard.importing.batch_jobs.generate import DATA_FILE, table
from trainyard.importing.formats import together
from trainyard.importing.imported import Imported, import_file
from trainyard.importing.lint import lint


def job(tmp_path: Path, **changes: Any) -> Imported:
    container = {
        "image": "registry.example/train:1",
        "command": ["python", 3],
        "resourceRequirements": [{"type": "VCPU", "value": "0.5"}, {"type": "MEMORY", "value": 64}],
    }
    definition = {"jobDefinitionName": "train", "type": "container",
                  "containerProperties": container, **changes}  # fmt: skip
    return read_text(tmp_path, json.dumps(definition))


def test_a_container_is_taken_over(tmp_path: Path):
    read = job(tmp_path, retryStrategy={"attempts": 3}, timeout={"attemptDurationSeconds": 61})
    assert read.stack.name == "train"
    assert at(read, "architecture", "job_definitions") == {
        "train": {
            "compute_environment": "nodes",
            "image": "registry.example/train:1",
            "command": ["python", "3"],
            "vcpus": 1,
            "memory_mib": 64,
            "attempts": 3,
            "timeout_minutes": 2,
        }
    }
    assert ("architecture", "compute_environments", "nodes", "instance_type") in read.stack.unknown
    assert lint(read) == []


def test_secrets_with_an_arn_are_taken_over_and_others_are_not(tmp_path: Path):
    arn = "arn:aws:secretsmanager:us-west-2:123456789012:secret:hf-AbCdEf:token::"
    secrets = [{"name": "HF_TOKEN", "valueFrom": arn}, {"name": "OTHER", "valueFrom": "/team/x"}]
    role = "arn:aws:iam::123456789012:role/execution"
    container = {"image": "registry.example/train:1", "secrets": secrets, "executionRoleArn": role}
    read = job(tmp_path, containerProperties=container)
    assert at(read, "architecture", "job_definitions", "train", "secrets") == {"HF_TOKEN": arn}
    found = fates(read)
    key = "architecture.job_definitions.train.secrets.HF_TOKEN"
    assert found["containerProperties.secrets[0].valueFrom"] == ("taken over", key)
    assert found["containerProperties.secrets[1].valueFrom"][0] == "not supported"


def test_the_nodes_of_a_job_are_those_of_its_compute_environment(tmp_path: Path):
    devices = {"devices": [{"hostPath": "/dev/infiniband/uverbs0"}]}
    container = {"image": "registry.example/train:1", "instanceType": "c5n.18xlarge"}
    ranges = [{"targetNodes": "0:3", "container": {**container, "linuxParameters": devices}}]
    nodes = {"numNodes": 4, "mainNode": 0, "nodeRangeProperties": ranges}
    read = job(tmp_path, type="multinode", nodeProperties=nodes, containerProperties=None)
    assert at(read, "architecture", "compute_environments") == {
        "c5n-18xlarge": {"instance_type": "c5n.18xlarge", "efa_enabled": True, "maximum": 4}
    }
    assert at(read, "architecture", "job_definitions", "train", "nodes") == 4


def test_nodes_of_neuron_need_an_image_that_the_user_knows(tmp_path: Path):
    container = {"image": "registry.example/train:1", "instanceType": "trn1.32xlarge"}
    nodes = {"numNodes": 2, "mainNode": 0,
             "nodeRangeProperties": [{"targetNodes": "0:", "container": container}]}  # fmt: skip
    read = job(tmp_path, type="multinode", nodeProperties=nodes, containerProperties=None)
    made = at(read, "architecture", "compute_environments", "trn1-32xlarge")
    assert made["image"] == "custom"
    assert lint(read) == []


def test_the_newest_active_revision_of_an_answer_is_read(tmp_path: Path):
    each = {"jobDefinitionName": "a", "type": "container", "status": "ACTIVE",
            "containerProperties": {"image": "registry.example/x:1"}}  # fmt: skip
    read = read_text(tmp_path, json.dumps({"jobDefinitions": [
        {**each, "revision": 2, "containerProperties": {"image": "registry.example/x:2"}},
        {**each, "revision": 1}, {**each, "revision": 3, "status": "INACTIVE"},
        {**each, "jobDefinitionName": "b", "revision": 1},
    ]}))  # fmt: skip
    found = at(read, "architecture", "job_definitions")
    assert [entry["image"] for entry in found.values()] == [
        "registry.example/x:2", "registry.example/x:1"
    ]  # fmt: skip
    assert fates(read)["jobDefinitions[1].revision"][0] == "dropped"
    assert fates(read)["jobDefinitions[2].revision"][0] == "dropped"


@pytest.mark.parametrize(
    ("changes", "field", "why"),
    [
        ({"parameters": {"size": "1"}}, "parameters.size", "write the values into `command`"),
        ({"platformCapabilities": ["FARGATE"]}, "type", "EC2 instances"),
        ({"schedulingPriority": 5}, "schedulingPriority", "first in, first out"),
        ({"eksProperties": {"podProperties": {}}}, "eksProperties.podProperties", "--kind eks"),
    ],
)
def test_what_a_stack_cannot_have_has_what_to_do(
    tmp_path: Path, changes: dict[str, Any], field: str, why: str
):
    read = job(tmp_path, **changes)
    (entry,) = [each for each in read.entries if ".".join(map(str, each.location)) == field]
    assert (entry.claim.fate, why in entry.claim.why) == ("not supported", True)


def environment(**changes: Any) -> dict[str, Any]:
    resources = {"type": "EC2", "maxvCpus": 384, "instanceTypes": ["p5.48xlarge"],
                 "subnets": ["subnet-0123456789abcdef0"],
                 "launchTemplate": {"launchTemplateName": "nodes"}}  # fmt: skip
    return {"computeEnvironmentName": "p5", "type": "MANAGED",
            "computeResources": {**resources, **changes}}  # fmt: skip


QUEUE = {"jobQueueName": "train", "priority": 7,
         "computeEnvironmentOrder": [{"order": 1, "computeEnvironment": "p5"}]}  # fmt: skip
TEMPLATE = {"LaunchTemplateName": "nodes",
            "LaunchTemplateData": {"NetworkInterfaces": [{"InterfaceType": "efa"}]}}  # fmt: skip


@pytest.mark.parametrize("as_answer", [False, True])
def test_a_compute_environment_is_taken_over_from_a_request_or_an_answer(
    tmp_path: Path, *, as_answer: bool
):
    document = {"computeEnvironments": [environment()]} if as_answer else environment()
    read = read_text(tmp_path, json.dumps(document))
    assert read.stack.name == "p5"
    assert at(read, "network", "private_subnet_ids") == ["subnet-0123456789abcdef0"]
    assert at(read, "architecture", "compute_environments", "p5") == {
        "instance_type": "p5.48xlarge", "purchase_option": "on-demand", "maximum": 2
    }  # fmt: skip
    below = "computeEnvironments[0]." if as_answer else ""
    found = fates(read)
    assert found[f"{below}computeResources.launchTemplate.launchTemplateName"][0] == "not supported"
    assert found[f"{below}computeResources.maxvCpus"] == (
        "taken over", "architecture.compute_environments.p5.maximum"
    )  # fmt: skip


def test_what_is_wrong_with_an_environment_is_found_in_its_file(tmp_path: Path):
    read = read_text(tmp_path, json.dumps(environment(instanceTypes=["p5.48xlarg"]), indent=1))
    (finding,) = lint(read)
    assert (finding.rule, finding.key, finding.line) == (
        "E1",
        "computeResources.instanceTypes[0]",
        8,
    )


def test_several_files_become_one_stack(tmp_path: Path):
    definition = {"jobDefinitionName": "train", "type": "container",
                  "containerProperties": {"image": "registry.example/train:1"}}  # fmt: skip
    paths: list[Path] = []
    for number, each in enumerate((QUEUE, TEMPLATE, definition, environment())):
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(json.dumps(each), encoding="utf-8")
    other = tmp_path / "cluster.yaml"
    other.write_text("kind: ClusterConfig\napiVersion: eksctl.io/v1alpha5\n", encoding="utf-8")
    assert together([paths[0], other, *paths[1:]]) == [[other], paths]
    (read,) = import_file(*paths)
    assert isinstance(read, Imported)
    assert read.stack.name == "p5"
    assert at(read, "architecture", "compute_environments", "p5") == {
        "instance_type": "p5.48xlarge", "purchase_option": "on-demand", "efa_enabled": True,
        "maximum": 2, "queue_priority": 7,
    }  # fmt: skip
    assert at(read, "architecture", "job_definitions", "train", "compute_environment") == "p5"
    assert {each.file for each in read.entries} == {path.name for path in paths}


def test_a_launch_template_alone_says_with_what_to_read_it(tmp_path: Path):
    read = read_text(tmp_path, json.dumps(TEMPLATE))
    whys = {entry.claim.why for entry in read.entries}
    assert [why for why in whys if "compute environment as well" in why] == [*whys]


def test_a_key_without_the_name_of_its_object_says_which_name_is_missing(tmp_path: Path):
    read = job(tmp_path, computeEnvironmentOrder=[])
    found = {entry.location[0]: entry.claim.why for entry in read.entries}
    assert found["computeEnvironmentOrder"] == "set `jobQueueName`, or remove it"


def test_an_unknown_key_is_found_with_its_line(tmp_path: Path):
    found = [(each.rule, each.key) for each in lint(job(tmp_path, retryStrateg={"attempts": 2}))]
    assert found == [("schema/unknown-key", "retryStrateg")]


def test_the_keys_are_those_of_the_installed_botocore():
    assert DATA_FILE.read_text(encoding="utf-8") == table()

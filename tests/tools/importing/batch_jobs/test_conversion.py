"""Job definitions of AWS Batch become those of a stack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.importing import at, fates, read_text
from tools.importing.batch_jobs.generate import DATA_FILE, table
from tools.importing.imported import Imported
from tools.importing.lint import lint


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


def test_an_unknown_key_is_found_with_its_line(tmp_path: Path):
    found = [(each.rule, each.key) for each in lint(job(tmp_path, retryStrateg={"attempts": 2}))]
    assert found == [("schema/unknown-key", "retryStrateg")]


def test_the_keys_are_those_of_the_installed_botocore():
    assert DATA_FILE.read_text(encoding="utf-8") == table()

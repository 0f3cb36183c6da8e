"""Job definitions of AWS Batch in Terraform become those of a stack, as those of the API do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.importing import at, fates, read_directory
from tests.trainyard.importing.terraform.test_conversion import corpus
from tests.trainyard.importing.terraform.test_shown import plan, read, resource, state
from trainyard.importing.lint import lint
from trainyard.importing.source import text_of

CONTAINER = {
    "image": "registry.example/train:1",
    "command": ["train"],
    "mountPoints": [],
    "resourceRequirements": [{"type": "VCPU", "value": "8"}, {"type": "GPU", "value": "1"}],
}
TRAIN = "aws_batch_job_definition.train"
JOB = {"name": "train", "type": "container", "arn": "arn:train", "timeout": []}
OURS = {
    "compute_environment": "nodes",
    "image": "registry.example/train:1",
    "command": ["train"],
    "vcpus": 8,
    "accelerators": 1,
}


def definition(*lines: str) -> str:
    body = "\n".join(('name = "train"', 'type = "container"', *lines))
    return f'resource "aws_batch_job_definition" "train" {{\n{body}\n}}\n'


def test_jobs_run_in_the_compute_environment_of_their_files():
    found = corpus("batch")
    assert at(found, "architecture", "repository") == {"name": "nccl-tests"}
    assert at(found, "architecture", "job_definitions") == {
        "all-reduce": {
            "compute_environment": "p5",
            "image": "repository",
            "command": ["/opt/nccl-tests/build/all_reduce_perf", "-b", "8", "-e", "16G"],
            "vcpus": 96,
            "memory_mib": 1048576,
            "accelerators": 8,
            "timeout_minutes": 30,
        },
        "train": {
            "compute_environment": "p5",
            "nodes": 4,
            "image": "763104351884.dkr.ecr.us-west-2.amazonaws.com/"
            "pytorch-training:2.7.1-gpu-py312",
            "command": ["torchrun", "train.py"],
            "vcpus": 192,
            "memory_mib": 1900000,
            "accelerators": 8,
            "shared_memory_mib": 65536,
            "attempts": 3,
        },
    }


@pytest.mark.parametrize(
    "given",
    [
        f"jsonencode({json.dumps(CONTAINER)})",
        f"jsonencode(merge({json.dumps(CONTAINER)}, {{}}))",
        json.dumps(json.dumps(CONTAINER)),
        f"<<EOF\n{json.dumps(CONTAINER, indent=2)}\nEOF",
        "<<-EOF\n"
        + json.dumps(CONTAINER, indent=2).replace("registry.example/train", "${var.image}")
        + "\nEOF",
    ],
)
def test_json_is_read_as_it_is_written(tmp_path: Path, given: str):
    variable = 'variable "image" {\n  default = "registry.example/train"\n}\n'
    text = variable + definition(f"container_properties = {given}")
    found = read_directory(tmp_path, main=text)
    assert found.problems == []
    assert at(found, "architecture", "job_definitions", "train") == OURS
    assert fates(found)[f"{TRAIN}.container_properties.mountPoints"] == ("implied", "")


ENVIRONMENT = """
resource "aws_batch_compute_environment" "nodes" {
  type = "%s"
  compute_resources {
    type          = "%s"
    instance_type = ["trn1.32xlarge"]
    max_vcpus     = 256
    image_id      = %s
  }
}
"""


@pytest.mark.parametrize(
    ("image", "ours"),
    [('"ami-0123456789abcdef0"', "ami-0123456789abcdef0"), ("var.unknown", None), ("null", None)],
)
def test_the_image_of_a_compute_environment_is_taken_over(
    tmp_path: Path, image: str, ours: str | None
):
    found = read_directory(tmp_path, main=ENVIRONMENT % ("MANAGED", "EC2", image))
    made = at(found, "architecture", "compute_environments", "nodes")
    assert (made["image"], made.get("custom_ami_id")) == ("custom", ours)
    assert lint(found) == []


@pytest.mark.parametrize(("managed", "kind"), [("UNMANAGED", "EC2"), ("MANAGED", "FARGATE")])
def test_without_nodes_of_ec2_only_the_user_knows_the_compute_environment(
    tmp_path: Path, managed: str, kind: str
):
    text = ENVIRONMENT % (managed, kind, "null")
    found = read_directory(tmp_path, main=text + definition())
    assert ("architecture", "compute_environments") in found.stack.unknown
    assert lint(found) == []


def test_a_state_has_the_json_as_text(tmp_path: Path):
    values = {**JOB, "container_properties": json.dumps(CONTAINER), "node_properties": ""}
    found = read(tmp_path, state(resource(TRAIN, values)))
    assert at(found, "architecture", "job_definitions", "train") == OURS
    assert fates(found)[f"{TRAIN}.container_properties.command[0]"][0] == "taken over"


def test_a_property_that_is_not_known_is_named_with_the_key_to_set(tmp_path: Path):
    configured = {
        "address": TRAIN,
        "expressions": {"container_properties": {"references": ["aws_ecr_repository.it"]}},
    }
    found = read(
        tmp_path,
        plan(
            resource(TRAIN, JOB),
            unknown={TRAIN: {"container_properties": True}},
            configuration={"root_module": {"resources": [configured]}},
        ),
    )
    ours = "architecture.job_definitions.train"
    assert fates(found)[f"{TRAIN}.container_properties"] == ("not supported", ours)
    assert (*ours.split("."), "image") in found.stack.unknown


@pytest.mark.parametrize(
    ("lines", "field", "why"),
    [
        (['container_properties = file("job.json")'], "container_properties", "set it in the"),
        (['platform_capabilities = ["FARGATE"]'], "type", "EC2 instances"),
        (["scheduling_priority = 3"], "scheduling_priority", "first in, first out"),
        (['eks_properties {\npod_properties {\nservice_account_name = "x"\n}\n}'],
         "eks_properties[0].pod_properties[0].service_account_name", "--kind eks"),
        (["container_properties = jsonencode({ image = var.unknown })"],
         "container_properties.image", "the files do not have its value"),
    ],
)  # fmt: skip
def test_what_a_stack_cannot_have_has_what_to_do(
    tmp_path: Path, lines: list[str], field: str, why: str
):
    found = read_directory(tmp_path, main=definition(*lines))
    (entry,) = [each for each in found.entries if text_of(each.location) == f"{TRAIN}.{field}"]
    assert (entry.claim.fate, why in entry.claim.why) == ("not supported", True)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("jsonencode({ a = [1, true] })", '{"a": [1, true]}'),
        ("jsonencode({ a = var.unknown })", '{"a": "${var.unknown}"}'),
        ("jsonencode(var.unknown)", "${jsonencode(var.unknown)}"),
    ],
)
def test_json_of_other_attributes_is_a_text(tmp_path: Path, given: str, shown: str):
    policy = f'resource "aws_iam_policy" "it" {{\n  policy = {given}\n}}\n'
    found = read_directory(tmp_path, main=definition(), policy=policy)
    values = {text_of(each.location): each.value for each in found.entries}
    assert values["aws_iam_policy.it.policy"] == shown


def test_a_finding_has_the_line_in_the_json(tmp_path: Path):
    node: dict[str, Any] = {
        "image": "x:1",
        "instanceType": "p5.48xlarge",
        "resourceRequirements": [{"type": "GPU", "value": "16"}],
    }
    properties = {"numNodes": 2, "mainNode": 0, "nodeRangeProperties": [{"container": node}]}
    text = definition(f"node_properties = <<EOF\n{json.dumps(properties, indent=2)}\nEOF")
    found = read_directory(tmp_path, main=text)
    (finding,) = lint(found)
    assert "16" in text.splitlines()[finding.line - 1]
    assert finding.key.endswith("container.resourceRequirements[0].value")

"""What is not read is named with the way that remains: in an answer, or in an entry of a report."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.support.import_sources import NETWORK, batch, template
from tests.support.importing import outcomes, read_directory, read_text
from trainyard.cli.app import app
from trainyard.cli.command_line import command
from trainyard.importing.imported import Imported
from trainyard.importing.lint import lint
from trainyard.stack_files import stacks_directory

EKS = """\
Cluster:
  Type: AWS::EKS::Cluster
  Properties: {Name: train-a, ResourcesVpcConfig: {SubnetIds: !If [X, [a, b], [c]]}}
Nodes: {Type: "AWS::EKS::Nodegroup", Properties: {ClusterName: train-a, Labels: {a: b, c: d}}}
More: {Type: "AWS::EKS::Nodegroup", Properties: {ClusterName: train-a}}
"""
CLUSTER = """\
resource "aws_eks_cluster" "train" {
  name = "train"
  vpc_config { subnet_ids = ["subnet-0123456789abcdef1", "subnet-0123456789abcdef2"] }
}
"""
VPC = """\
module "vpc" {
  source = "terraform-aws-modules/vpc/aws"
  cidr   = "10.0.0.0/16"
  azs    = ["us-west-2a", "us-west-2b"]
}
resource "aws_subnet" "a" {
  count      = 2
  cidr_block = "10.0.${count.index}.0/24"
}
"""
LUSTRE = 'resource "aws_fsx_lustre_file_system" "a" {\n  storage_capacity = 1200\n}\n'
QUEUE = 'resource "aws_batch_job_queue" "a" {\n  name     = "a"\n  priority = 1\n}\n'
JOB = {"jobDefinitionName": "a", "type": "container", "containerProperties": {"image": "a:1"}}
ENVIRONMENT = {"computeEnvironmentName": "p5", "type": "MANAGED"}
NODES = 'module "nodes" {\n  source = "terraform-aws-modules/batch/aws"\n}\n'

VPC_BY_ID = "`kind: existing-vpc`"
LUSTRE_BY_ID = "`kind: existing-fsx-lustre` and `file_system_id`"
LIVE_BATCH = "`./trainyard import --live NAME --kind batch`"


def written(directory: Path, name: str, content: str | Mapping[str, Any]) -> Path:
    path = directory / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture
def stacks(tmp_path: Path) -> Path:
    directory = tmp_path / "stacks"
    stacks_directory.create(directory)
    return directory


@pytest.mark.parametrize(
    ("name", "content", "types", "way"),
    [
        ("job.json", JOB, "objects of AWS Batch", LIVE_BATCH),
        ("jobs.json", {"jobDefinitions": [JOB]}, "objects of AWS Batch", "`AWS::Batch::…`"),
        ("a.yaml", ENVIRONMENT, "objects of AWS Batch",
         "`./trainyard import --live p5 --kind batch`"),
        ("queues.json", {"jobQueues": [{"jobQueueName": "q 1", "priority": 1}]},
         "objects of AWS Batch", "`./trainyard import --live 'q 1' --kind batch`"),
        ("eks.yaml", template(EKS), "AWS::EKS::Cluster, AWS::EKS::Nodegroup",
         "`./trainyard import --live train-a --kind eks`"),
        ("eks.yaml", template(EKS.replace("train-a", "!Ref Name")), "AWS::EKS::Cluster",
         "`./trainyard import --live CLUSTER --kind eks`"),
        ("main.tf", VPC, "vpc, aws_subnet", VPC_BY_ID),
        ("main.tf", VPC, "vpc, aws_subnet", "`./trainyard import --live CLUSTER`"),
        ("main.tf", LUSTRE, "aws_fsx_lustre_file_system", LUSTRE_BY_ID),
        ("main.tf", QUEUE, "aws_batch_job_queue", LIVE_BATCH),
        ("main.tf", NODES, "batch", LIVE_BATCH),
        ("main.tf", VPC + LUSTRE, "aws_subnet", LUSTRE_BY_ID),
        ("main.tf", 'resource "aws_s3_bucket" "data" {}\n', "no EKS cluster",
         "name the directory that uses it as a module"),
        ("prod.tfvars", 'name = "prod"\n', "values of variables only", "import the copy"),
    ],
)  # fmt: skip
def test_a_file_with_nothing_to_read_is_refused_with_the_way_that_remains(
    name: str, content: Any, types: str, way: str, tmp_path: Path, stacks: Path
):
    path = written(tmp_path, name, content)
    done = CliRunner().invoke(app, ["--stacks", str(stacks), "import", str(path)])
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: {path}: has ")
    assert types in line
    assert way in line
    assert list(stacks.glob("Pulumi.*.yaml")) == []
    linted = CliRunner().invoke(app, ["lint", str(path)])
    assert linted.exit_code == 0
    (line,) = linted.stdout.splitlines()
    assert "note schema/not-read" in line
    assert types in line
    assert way in line
    assert_commands_exist(line)
    skipped = CliRunner().invoke(app, ["lint", "--skip-others", str(path)])
    assert (skipped.exit_code, skipped.output) == (0, "")


def assert_commands_exist(text: str) -> None:
    """Check that the command line accepts the commands in a text."""
    for found in re.findall(r"`\./trainyard ([^`]+)`", text):
        word, *arguments = shlex.split(found)
        command(word).make_context(word, arguments)


@pytest.mark.parametrize("first", ["", "[command]/opt/terraform-bin show -json tfplan\n"])
@pytest.mark.parametrize("key", ["planned_values", "values"])
def test_a_plan_or_a_state_of_a_vpc_is_answered_also_behind_the_wrapper_of_an_action(
    key: str, first: str, tmp_path: Path
):
    resource = {"address": "aws_vpc.a", "mode": "managed", "type": "aws_vpc", "name": "a"}
    values = {"root_module": {"resources": [{**resource, "values": {"cidr_block": "10.0.0.0/16"}}]}}
    text = json.dumps({"format_version": "1.2", key: values})
    done = CliRunner().invoke(app, ["lint", str(written(tmp_path, "plan.json", first + text))])
    assert (done.exit_code, "; aws_vpc: a VPC of Terraform is not read" in done.stdout) == (0, True)


def of_type(read: Imported, begin: str) -> list[tuple[str, Any]]:
    return [
        (".".join(map(str, each.location)), each.value)
        for each in read.entries
        if str(each.value).startswith(begin)
    ]


def test_a_type_or_module_of_terraform_is_one_entry_beside_a_cluster(tmp_path: Path):
    read = read_directory(tmp_path, main=CLUSTER + VPC + LUSTRE + QUEUE)
    assert of_type(read, "module.vpc") == [("module.vpc", "module.vpc")]
    assert of_type(read, "aws_subnet") == [("aws_subnet.a[0]", "aws_subnet (2)")]
    whys = {str(each.value): (each.line, each.claim.why) for each in read.entries}
    assert whys["module.vpc"][0] == 1 + CLUSTER.count("\n")
    assert VPC_BY_ID in whys["module.vpc"][1]
    assert LUSTRE_BY_ID in whys["aws_fsx_lustre_file_system"][1]
    assert LIVE_BATCH in whys["aws_batch_job_queue"][1]
    for _, why in whys.values():
        assert_commands_exist(why)
    assert "module.vpc.cidr" not in outcomes(read)
    assert not {"storage", "reservations"} & read.stack.values.keys()


def test_a_type_of_eks_is_one_entry_beside_a_vpc(tmp_path: Path):
    conditions = "Conditions: {X: !Equals [a, a]}\n"
    read = read_text(tmp_path, template(NETWORK + EKS, conditions))
    assert of_type(read, "AWS::EKS::") == [
        ("Resources.Cluster", "AWS::EKS::Cluster"),
        ("Resources.Nodes", "AWS::EKS::Nodegroup (2)"),
    ]
    assert "Resources.More.Type" not in outcomes(read)
    whys = {str(each.value): each.claim.why for each in read.entries}
    assert "`./trainyard import --live train-a --kind eks`" in whys["AWS::EKS::Cluster"]
    assert read.stack.values["architecture"]["kind"] == "network"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (template(NETWORK + EKS), ["AWS::EKS::Cluster, AWS::EKS::Nodegroup (2): not checked"]),
        (batch(more=""), []),
    ],
)
def test_lint_says_in_one_note_what_it_does_not_check(tmp_path: Path, text: str, said: list[str]):
    found = [each for each in lint(read_text(tmp_path, text)) if each.rule == "schema/not-read"]
    assert [each.message.partition(", and")[0] for each in found] == said
    assert {each.level for each in found} <= {"note"}


def test_the_notes_about_terraform_are_one_for_each_way_that_remains(tmp_path: Path):
    found = lint(read_directory(tmp_path, main=CLUSTER + VPC + LUSTRE + QUEUE))
    notes = [each.message for each in found if each.rule == "schema/not-read"]
    assert [each.partition(":")[0] for each in notes] == [
        "module.vpc, aws_subnet (2)", "aws_fsx_lustre_file_system", "aws_batch_job_queue"
    ]  # fmt: skip

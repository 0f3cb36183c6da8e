"""An error of `lint` rests on what the file says, and is one in the file's own tool."""

from __future__ import annotations

import json
import re
from pathlib import Path

import botocore.session
import pytest
from click.testing import Result
from typer.testing import CliRunner

from tests.support.import_sources import QUEUE, batch, cluster, cluster_config
from tests.support.importing import read_text
from trainyard.cli.app import app
from trainyard.components.catalog.instance_types import INSTANCE_TYPES, is_left_out
from trainyard.importing.lint import lint
from trainyard.rules.requirements import requirements

CASES = Path(__file__).parent / "cases"
NAMES = sorted(each.name for each in CASES.iterdir())
REFUSED = {"09-cfn-pcluster-custom-resource.yaml": {"A6"}}
"""Cases with an error, and its rules; the others are right in their own tools."""


def linted(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["lint", *map(str, arguments)])


@pytest.mark.parametrize("name", sorted({*NAMES} - REFUSED.keys()))
def test_a_file_that_is_right_in_its_own_tool_has_no_error_and_no_warning(name: str):
    done = linted(CASES / name)
    assert (done.exit_code, done.stderr) == (0, "")
    assert not re.search(r": (?:error|warning) ", done.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_the_environment_changes_nothing(name: str):
    runner, path = CliRunner(), str(CASES / name)
    told = [
        runner.invoke(app, ["lint", path], env={"AWS_REGION": region}).output
        for region in ("us-west-2", "eu-west-1")
    ]
    assert told[0] == told[1] == runner.invoke(app, ["lint", path]).output


def test_the_region_of_the_command_does_not_override_the_zones_of_a_template():
    done = linted("--region", "us-west-2", CASES / "01-cfn-zone-and-aws-region.yaml")
    assert done.exit_code == 0


def test_zones_tell_the_region_of_an_eksctl_file_without_one(tmp_path: Path):
    source = cluster_config().replace("region: us-west-2", "tags: {a: b}")
    assert "us-west-2b" in source
    assert lint(read_text(tmp_path, source)) == []


@pytest.mark.parametrize(
    ("cidr", "rule"),
    [
        ("!Ref Block", None),
        ("10.2.0.0/16", "plan/Resources.Private.Properties.CidrBlock"),
    ],
)
def test_addresses_are_compared_with_those_of_the_vpc_only_if_the_template_has_them(
    tmp_path: Path, cidr: str, rule: str | None
):
    source = (
        "Parameters: {Block: {Type: String}}\n"
        "Resources:\n"
        f"  VPC: {{Type: 'AWS::EC2::VPC', Properties: {{CidrBlock: {cidr}}}}}\n"
        "  Private:\n"
        "    Type: AWS::EC2::Subnet\n"
        "    Properties: {VpcId: !Ref VPC, CidrBlock: 10.1.0.0/20, AvailabilityZone: us-east-1a}\n"
    )
    assert [each.rule for each in lint(read_text(tmp_path, source))] == ([rule] if rule else [])


def test_a_guessed_branch_of_a_template_is_a_note(tmp_path: Path):
    source = cluster(QUEUE.replace("p5.48xlarge", "c5.large"))
    assert {each.level for each in lint(read_text(tmp_path, source))} == {"error"}
    branch = f"{{% if more %}}\n{{% endif %}}\n{source}"
    assert {each.level for each in lint(read_text(tmp_path, branch))} == {"note"}


@pytest.mark.parametrize(("default", "level"), [("", "note"), (", Default: small", "error")])
def test_a_condition_without_a_value_of_its_parameter_makes_no_error(
    tmp_path: Path, default: str, level: str
):
    source = batch().replace("[p5.48xlarge]", "[!If [Small, c5.large, p5.48xlarge]]")
    assert "!If" in source
    source = (
        f"Parameters: {{Size: {{Type: String{default}}}}}\n"
        f"Conditions: {{Small: !Equals [!Ref Size, small]}}\n{source}"
    )
    found = [each for each in lint(read_text(tmp_path, source)) if each.rule == "A1"]
    assert [each.level for each in found] == ([level] if default else [])


def test_errors_of_the_schema_do_not_hide_those_of_the_plan(tmp_path: Path):
    source = cluster(QUEUE.replace("p5.48xlarge", "c5.large"))
    source = source.replace("{Os: alinux2023}", "alinux2023") + "Tag: []\n"
    found = {(each.level, each.rule) for each in lint(read_text(tmp_path, source))}
    assert {("error", "schema/wrong-kind"), ("error", "schema/unknown-key"), ("error", "A1")} <= (
        found
    )


MODULE = """
module "eks" {{
  source     = "terraform-aws-modules/eks/aws"
  {version}
  name       = "x"
  vpc_id     = "vpc-0123456789abcdef0"
  subnet_idz = ["subnet-0123456789abcdef0"]
}}
"""


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ('version = "20.37.2"', "error schema/unknown-key"),
        ('version = "~> 20.0"', "error schema/unknown-key"),
        ('version = "~> 21.0"', "warning schema/unknown-key"),
        ('version = ">= 19.0"', "warning schema/unknown-key"),
        ("", "warning schema/unknown-key"),
        ('version = "~> 17.0"', "note schema/not-read"),
        ('version = "< 18.0.0"', "note schema/not-read"),
        ('version = "22.1.0"', "note schema/not-read"),
    ],
)
def test_inputs_are_judged_by_the_version_of_the_module(tmp_path: Path, version: str, said: str):
    (tmp_path / "main.tf").write_text(MODULE.format(version=version), encoding="utf-8")
    done = linted(tmp_path)
    assert said in done.stdout
    assert done.exit_code == (2 if said.startswith("error") else 0)


@pytest.mark.parametrize(
    ("constraint", "level"), [("~> 5.0", "error"), (">= 5.0", "warning"), ("6.2.0", "warning")]
)
def test_attributes_are_judged_by_the_version_of_the_provider(
    tmp_path: Path, constraint: str, level: str
):
    text = (
        f'terraform {{\n  required_providers {{\n    aws = {{ version = "{constraint}" }}\n'
        "  }\n}\n"
        'resource "aws_eks_cluster" "a" {\n  name = "x"\n  role_of = "y"\n}\n'
    )
    (tmp_path / "main.tf").write_text(text, encoding="utf-8")
    assert f"{level} schema/unknown-key" in linted(tmp_path).stdout


def test_every_type_of_the_api_is_known():
    model = botocore.session.get_session().get_service_model("ec2")
    names = {*model.shape_for("InstanceType").enum}
    assert len(names) > 1000
    assert [each for each in names if each not in INSTANCE_TYPES and not is_left_out(each)] == []
    assert [each for each in INSTANCE_TYPES if is_left_out(each)] == []


@pytest.mark.parametrize("name", ["p3.16xlarge", "dl1.24xlarge", "c3.large", "g3.4xlarge"])
def test_a_type_that_ec2_has_is_no_fault_and_is_not_replaced(name: str, tmp_path: Path):
    source = (
        cluster_config().replace("p5.48xlarge", name).replace("efaEnabled: true", "spot: false")
    )
    assert [each for each in lint(read_text(tmp_path, source)) if each.rule == "E1"] == []


@pytest.mark.parametrize(
    ("name", "level"), [("p9.48xlarge", "warning"), ("p5.96xlarge", "warning"), ("p5.48x", "error")]
)
def test_an_unknown_type_is_never_replaced_by_one_of_another_family(
    name: str, level: str, tmp_path: Path
):
    (finding,) = [
        each
        for each in lint(read_text(tmp_path, cluster_config().replace("p5.48xlarge", name)))
        if each.rule == "E1"
    ]
    assert finding.level == level
    family = name.partition(".")[0]
    named = set(re.findall(r"\b[a-z]\w*\.\w*xlarge\b", finding.message)) - {name}
    assert {each.partition(".")[0] for each in named} <= {family}


def test_a_level_of_a_rule_is_of_a_format_that_there_is():
    formats = {"all", "eksctl", "parallelcluster", "terraform", "cloudformation"}
    for each in requirements().values():
        assert {*each.lint} <= formats, each.id
        assert {*each.lint.values()} <= {"none", "note", "warning"}, each.id


SNAKE = re.compile(r"(?<![\w.-])[a-z]+(?:_[a-z0-9]+)+(?![\w-])")


@pytest.mark.parametrize(
    "source",
    [
        cluster(QUEUE.replace("p5.48xlarge", "c5.large")),
        cluster(QUEUE.replace("def1]", "def1, subnet-0123456789abcdef2]")),
        cluster(QUEUE.replace("MinCount: 2", "MinCount: 9")),
        cluster_config().replace("p5.48xlarge", "c5.large"),
        cluster_config().replace("p5.48xlarge", "p5.48x"),
    ],
)
def test_messages_have_no_keys_of_a_stack_file(tmp_path: Path, source: str):
    found = lint(read_text(tmp_path, source))
    assert found
    for each in found:
        assert "trainyard" not in each.message
        assert SNAKE.findall(each.message) == []


def test_ok_says_what_was_read(tmp_path: Path):
    path = tmp_path / "database.yaml"
    path.write_text("Resources: {A: {Type: 'AWS::RDS::DBInstance'}}\n", encoding="utf-8")
    assert linted(path).stdout == (
        f"{path}: ok: nothing that trainyard knows in this CloudFormation template\n"
    )
    path.write_text(cluster(), encoding="utf-8")
    assert re.search(r": ok: AWS ParallelCluster configuration, \d+ fields\n", linted(path).stdout)


def test_every_rule_in_sarif_has_an_address_for_help(tmp_path: Path):
    path = tmp_path / "cluster.yaml"
    path.write_text(cluster(QUEUE.replace("p5.48xlarge", "c5.large")) + "Tag: 1\n", "utf-8")
    (run,) = json.loads(linted("--sarif", path, tmp_path / "missing.yaml").stdout)["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert {each["id"] for each in rules} == {"A1", "schema/unknown-key", "schema/unreadable"}
    assert all(each["helpUri"].startswith("https://") for each in rules)

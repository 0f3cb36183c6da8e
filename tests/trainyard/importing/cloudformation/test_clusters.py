"""A configuration of ParallelCluster in a template is read as one in a file of its own."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

from typer.testing import CliRunner

from tests.support.import_sources import NETWORK, QUEUE, cluster, template
from trainyard.cli.app import app
from trainyard.importing.imported import Imported, import_file, imported_of
from trainyard.importing.lint import lint
from trainyard.stack_files import stacks_directory

PROVIDER = (
    "Provider: {Type: 'AWS::CloudFormation::Stack', Properties: {TemplateURL: 'https://a.b/c'}}\n"
)


def with_cluster(configuration: str, more: str = "", resources: str = PROVIDER) -> str:
    made = (
        "Cluster:\n"
        "  Type: Custom::PclusterCluster\n"
        "  Properties:\n"
        "    ServiceToken: !GetAtt [Provider, Outputs.ServiceToken]\n"
        "    ClusterName: train\n"
        "    ClusterConfiguration:\n"
        f"{indent(configuration, '      ')}"
    )
    return template(resources + made, more)


def read(directory: Path, text: str) -> list[Imported]:
    path = directory / "template.yaml"
    path.write_text(text, encoding="utf-8")
    return [*imported_of(import_file(path))]


def test_the_stack_is_that_of_the_configuration_in_a_file(tmp_path: Path):
    outer, inner = read(tmp_path, with_cluster(cluster()))
    (alone,) = read(tmp_path, cluster())
    assert outer.is_empty
    assert inner.stack.values == {**alone.stack.values, "name": "train"}
    assert inner.stack.region == alone.stack.region
    assert [(each.location, each.claim.fate) for each in inner.entries] == [
        (each.location, each.claim.fate) for each in alone.entries
    ]


def test_values_come_from_parameters_and_functions(tmp_path: Path):
    parameters = (
        "Parameters:\n"
        "  Node: {Type: String, Default: p5.48xlarge}\n"
        "  Subnet: {Type: 'AWS::EC2::Subnet::Id'}\n"
        "Conditions: {Large: !Equals [!Ref Node, p5.48xlarge]}\n"
    )
    queue = QUEUE.replace("p5.48xlarge", "!Ref Node").replace(
        "[subnet-0123456789abcdef1]", "[!Ref Subnet]"
    )
    queue = queue.replace("MaxCount: 2", "MaxCount: !If [Large, 4, 9]")
    _, inner = read(tmp_path, with_cluster(cluster(queue), parameters))
    assert inner.problems == []
    resources = inner.stack.values["architecture"]["queues"]["gpu"]["compute_resources"]
    assert (resources["p5"]["instance_type"], resources["p5"]["maximum"]) == ("p5.48xlarge", 4)
    assert lint(inner) == []


def test_a_list_that_only_a_person_knows_is_not_of_a_wrong_kind(tmp_path: Path):
    parameters = "Parameters: {Subnets: {Type: 'List<AWS::EC2::Subnet::Id>'}}\n"
    queue = QUEUE.replace("[subnet-0123456789abcdef1]", "!Ref Subnets")
    _, inner = read(tmp_path, with_cluster(cluster(queue), parameters))
    assert [each for each in lint(inner) if each.level != "note"] == []


def test_a_finding_has_the_line_in_the_template(tmp_path: Path):
    text = with_cluster(cluster(QUEUE.replace("p5.48xlarge", "c5.large")))
    _, inner = read(tmp_path, text)
    (finding,) = lint(inner)
    assert (finding.rule, finding.level) == ("A1", "error")
    assert "Efa" in text.splitlines()[finding.line - 1]
    assert finding.key.startswith("Resources.Cluster.Properties.ClusterConfiguration.Scheduling.")


def test_a_template_with_its_network_becomes_two_stacks(tmp_path: Path):
    directory = tmp_path / "stacks"
    stacks_directory.create(directory)
    path = tmp_path / "template.yaml"
    path.write_text(with_cluster(cluster(), resources=PROVIDER + NETWORK), encoding="utf-8")
    begin = ["--stacks", str(directory), "import", str(path)]
    done = CliRunner().invoke(app, [*begin, "--name", "prod"])
    assert done.exit_code == 0, done.output
    names = sorted(each.name for each in directory.glob("Pulumi.*.yaml"))
    assert names == ["Pulumi.prod-network.yaml", "Pulumi.prod.yaml"]


def test_a_template_without_a_stack_writes_none(tmp_path: Path):
    directory = tmp_path / "stacks"
    stacks_directory.create(directory)
    path = tmp_path / "template.yaml"
    path.write_text(template("A: {Type: 'AWS::S3::Bucket'}\n"), encoding="utf-8")
    done = CliRunner().invoke(app, ["--stacks", str(directory), "import", str(path)])
    assert done.exit_code == 2
    assert "Resources.A.Type: AWS::S3::Bucket" in done.output
    assert "none was written" in done.output
    assert list(directory.glob("Pulumi.*.yaml")) == []

"""A directory of Terraform is read whole: every block, with its file and its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.importing import at, outcomes, read_directory
from trainyard.importing.formats import without_siblings
from trainyard.importing.imported import Imported, import_file
from trainyard.importing.source import leaves, text_of
from trainyard.stack_files.yaml_limits import UnreadableYamlError

MODULE = """\
module "eks" {
  source             = "terraform-aws-modules/eks/aws"
  version            = "~> 21.0"
  name               = var.name
  kubernetes_version = "1.36"
  vpc_id             = "vpc-0123456789abcdef0"
  subnet_ids         = ["subnet-0123456789abcdef1", "subnet-0123456789abcdef2"]
}
"""
VARIABLES = 'variable "name" {\n  default = "from-default"\n}\n'


def test_every_value_has_its_file_and_line(tmp_path: Path):
    read = read_directory(tmp_path, main=MODULE, variables=VARIABLES)
    found = {
        text_of(location): (node.file.name if node.file else "", node.line)
        for location, node in leaves(read.document.root)
    }
    assert found["module.eks.name"] == ("main.tf", 4)
    assert found["module.eks.subnet_ids[1]"] == ("main.tf", 7)
    assert found["var.name.default"] == ("variables.tf", 2)
    entry = next(each for each in read.entries if text_of(each.location) == "module.eks.name")
    assert entry.as_json()["file"] == "main.tf"


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({}, "from-default"),
        ({"terraform.tfvars": 'name = "from-file"\n'}, "from-file"),
        (
            {"terraform.tfvars": 'name = "a"\n', "z.auto.tfvars": 'name = "from-auto"\n'},
            "from-auto",
        ),
        ({"terraform.tfvars.json": '{"name": "from-json"}'}, "from-json"),
        ({"prod.tfvars": 'name = "not-loaded"\n'}, "from-default"),
    ],
)
def test_values_of_variables_are_those_that_terraform_loads(
    tmp_path: Path, files: dict[str, str], name: str
):
    read = read_directory(tmp_path, main=MODULE, variables=VARIABLES, **files)
    assert read.stack.name == name


def test_a_file_of_values_that_is_named_is_loaded_last(tmp_path: Path):
    read_directory(tmp_path, main=MODULE, variables=VARIABLES)
    values = tmp_path / "prod.tfvars"
    values.write_text('name = "prod"\n', encoding="utf-8")
    (read,) = import_file(values)
    assert isinstance(read, Imported)
    assert read.stack.name == "prod"
    assert without_siblings([tmp_path / "main.tf", values, tmp_path / "a.yaml"]) == [
        values,
        tmp_path / "a.yaml",
    ]


def test_json_of_terraform_is_read_like_hcl(tmp_path: Path):
    text = (
        '{"variable": {"name": {"default": "json"}},\n "module": {"eks": {\n'
        '  "source": "terraform-aws-modules/eks/aws",\n  "name": "${var.name}-x",\n'
        '  "vpc_id": "vpc-0123456789abcdef0"}}}'
    )
    read = read_directory(tmp_path, **{"main.tf.json": text})
    assert read.stack.name == "json-x"
    assert at(read, "network", "vpc_id") == "vpc-0123456789abcdef0"


def test_a_module_in_a_directory_is_read_with_its_inputs(tmp_path: Path):
    child = tmp_path / "cluster"
    child.mkdir()
    inputs = 'variable "name" {}\noutput "called" { value = var.name }\n'
    (child / "main.tf").write_text(MODULE + inputs, encoding="utf-8")
    root = 'module "training" {\n  source = "./cluster"\n  name   = "inner"\n}\n'
    read = read_directory(tmp_path, main=root)
    assert read.stack.name == "inner"
    assert "module.training.module.eks.kubernetes_version" in outcomes(read)
    assert outcomes(read)["module.training.name"] == ("implied", "")


def test_the_module_itself_is_known_by_its_files_whatever_its_inputs_are(tmp_path: Path):
    (tmp_path / "modules" / "eks-managed-node-group").mkdir(parents=True)
    (tmp_path / "main.tf").write_text('resource "aws_eks_cluster" "this" {}\n')
    example = tmp_path / "examples" / "small"
    example.mkdir(parents=True)
    main = 'module "off" {\n  source = "../.."\n  create = false\n}\n'
    read = read_directory(example, main=main)
    assert [*outcomes(read)] == ["module.off.source", "module.off.create"]


def test_an_example_of_values_is_read_if_it_is_named(tmp_path: Path):
    example = tmp_path / "terraform.tfvars.example"
    example.write_text('name = "from-example"\n', encoding="utf-8")
    assert read_directory(tmp_path, main=MODULE, variables=VARIABLES).stack.name == "from-default"
    (read,) = import_file(example)
    assert isinstance(read, Imported)
    assert read.stack.name == "from-example"


def test_secrets_are_not_shown(tmp_path: Path):
    secret = 'variable "token" {\n  default   = "hunter2"\n  sensitive = true\n}\n'
    used = 'resource "helm_release" "a" {\n  set = var.token\n}\n'
    read = read_directory(
        tmp_path,
        main=MODULE + secret + used,
        variables=VARIABLES,
        **{"terraform.tfvars": 'token = "hunter3"\n'},
    )
    assert "hunter" not in str([entry.as_json() for entry in read.entries])


def test_a_file_that_is_not_terraform_is_refused_with_its_line(tmp_path: Path):
    path = tmp_path / "main.tf"
    path.write_text('module "a" {\n  b = \n}\n', encoding="utf-8")
    with pytest.raises(UnreadableYamlError, match=r"main\.tf, line 2: is not valid Terraform"):
        import_file(path)

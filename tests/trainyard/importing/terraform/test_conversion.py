"""A cluster of Terraform becomes the stack file that means the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.importing import at, outcomes, read_directory
from tests.trainyard.importing.test_corpus import CORPUS
from trainyard.importing.imported import Imported, import_file

TERRAFORM = CORPUS / "terraform"
CLUSTER = """\
module "eks" {{
  source     = "terraform-aws-modules/eks/aws"
  version    = "~> 20.0"
  vpc_id     = "vpc-0123456789abcdef0"
  subnet_ids = ["subnet-0123456789abcdef1", "subnet-0123456789abcdef2"]
  cluster_name = "train"
  {more}
  eks_managed_node_groups = {{
    gpu = {{
      instance_types = ["p5.48xlarge"]
      {group}
    }}
  }}
}}
variable "unknown" {{}}
"""
RESERVED = "capacity_reservation_specification = {{ capacity_reservation_target = {{ {} }} }}"
BY_ID = RESERVED.format('capacity_reservation_id = "cr-0123456789abcdef0"')
BY_GROUP = RESERVED.format('capacity_reservation_resource_group_arn = "arn:group"')
BY_VARIABLE = RESERVED.format("capacity_reservation_id = var.unknown")


def corpus(name: str) -> Imported:
    (read,) = import_file(TERRAFORM / name)
    assert isinstance(read, Imported)
    return read


def read_group(directory: Path, group: str = "", more: str = "") -> Imported:
    return read_directory(directory, main=CLUSTER.format(group=group, more=more))


def gpu(read: Imported) -> dict[str, Any]:
    return at(read, "architecture", "node_groups", "gpu")


def test_a_module_of_a_cluster_uses_the_vpc_by_ids_that_the_user_sets():
    read = corpus("p5-capacity-block")
    assert (read.stack.name, read.stack.region) == ("p5-prod", "us-west-2")
    assert at(read, "network") == {"kind": "existing-vpc", "public_subnet_ids": []}
    assert at(read, "architecture", "system_node_group", "instance_type") == "m6i.2xlarge"
    assert at(read, "architecture", "node_groups", "p5") == {
        "management": "managed",
        "minimum": 0,
        "desired": 4,
        "maximum": 4,
        "purchase_option": "p5",
        "efa_enabled": True,
        "auto_repair": True,
        "instance_type": "p5.48xlarge",
        "root_volume": {"throughput_mibps": 250, "size_gib": 500},
        "labels": {"nvidia.com/gpu.present": "true"},
        "taints": [{"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}],
    }
    assert at(read, "reservations", "p5") == {
        "kind": "capacity-block",
        "reservation_id": "cr-0123456789abcdef0",
    }
    assert at(read, "architecture", "addons", "versions") == {
        "aws-ebs-csi-driver": "v1.50.1-eksbuild.1"
    }
    assert set(read.stack.unknown) == {
        ("network", "vpc_id"),
        ("network", "private_subnet_ids"),
        ("architecture", "node_groups", "p5", "subnet_id"),
    }


def test_an_existing_vpc_and_a_reservation_that_terraform_creates():
    read = corpus("v21-reservations")
    assert at(read, "network") == {
        "kind": "existing-vpc",
        "public_subnet_ids": [],
        "private_subnet_ids": ["subnet-0123456789abcdef1"],
    }
    assert at(read, "reservations", "p4d") == {
        "kind": "odcr",
        "instance_count": 4,
        "availability_zone": "us-east-1b",
    }
    groups = at(read, "architecture", "node_groups")
    assert groups["p4d"]["subnet_id"] == "subnet-0123456789abcdef1"
    assert groups["batch-spot"]["purchase_option"] == "spot"
    assert groups["trn1"]["management"] == "self-managed"
    assert groups["trn1"]["iam_policies"] == ["AmazonS3ReadOnlyAccess"]
    assert at(read, "architecture", "node_authorization") == "access-entry"
    assert set(read.stack.unknown) == {
        ("network", "vpc_id"),
        ("network", "private_subnet_ids"),
        ("reservations", "p4d", "reservation_id"),
    }


def test_resources_without_modules():
    read = corpus("resources")
    assert at(read, "network") == {"kind": "existing-vpc", "public_subnet_ids": []}
    group = at(read, "architecture", "node_groups", "g6e")
    assert group["instance_type"] == "g6e.48xlarge"
    assert group["efa_enabled"] is True
    assert ("architecture", "node_groups", "g6e", "subnet_id") in read.stack.unknown
    assert group["placement"] == {"group": "existing", "name": "my-group"}
    assert group["taints"] == [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]
    assert "storage" not in read.stack.values


@pytest.mark.parametrize(
    ("group", "purchase_option", "reservation"),
    [
        ("", None, None),
        ('capacity_type = "SPOT"', "spot", None),
        ('instance_market_options = { market_type = "spot" }', "spot", None),
        (BY_ID, "gpu", {"kind": "odcr", "reservation_id": "cr-0123456789abcdef0"}),
        (BY_GROUP, "gpu", {"kind": "odcr-group", "group_arn": "arn:group"}),
        (f'capacity_type = "CAPACITY_BLOCK"\n{BY_ID}', "gpu",
         {"kind": "capacity-block", "reservation_id": "cr-0123456789abcdef0"}),
        (BY_VARIABLE, "gpu", {"kind": "odcr"}),
    ],
    ids=["on-demand", "spot", "market", "id", "group", "block", "variable"],
)  # fmt: skip
def test_capacity_by_its_kind(
    tmp_path: Path, group: str, purchase_option: str | None, reservation: dict[str, str] | None
):
    read = read_group(tmp_path, group)
    assert gpu(read).get("purchase_option") == purchase_option
    assert read.stack.values.get("reservations", {}).get("gpu") == reservation


def test_an_interruptible_reservation_is_not_taken_for_an_ordinary_one(tmp_path: Path):
    market = 'instance_market_options = { market_type = "interruptible-capacity-reservation" }'
    read = read_group(tmp_path, f"{market}\n{BY_ID}")
    (fate, _), *_ = (f for key, f in outcomes(read).items() if key.endswith("market_type"))
    assert fate == "not supported"


def test_sizes_and_volumes_have_the_defaults_of_the_module(tmp_path: Path):
    found = gpu(read_group(tmp_path))
    assert (found["minimum"], found["desired"], found["maximum"]) == (1, 1, 3)
    assert found["root_volume"] == {"size_gib": 20}
    endpoint = read_group(tmp_path).stack.values["architecture"]["endpoint"]
    assert endpoint == {"public_access": False}


def test_defaults_of_the_input_are_those_of_every_group(tmp_path: Path):
    defaults = "eks_managed_node_group_defaults = { disk_size = 200, max_size = 8, ignored = 1 }"
    read = read_group(tmp_path, "max_size = 5", defaults)
    assert (gpu(read)["root_volume"]["size_gib"], gpu(read)["maximum"]) == (200, 5)
    key = "module.eks.eks_managed_node_group_defaults"
    assert outcomes(read)[f"{key}.disk_size"][0] == "taken over"
    assert outcomes(read)[f"{key}.ignored"] == ("dropped", "")


@pytest.mark.parametrize(
    ("given", "days"), [("400", 400), ('"30"', 30), ("7300", None), ("var.unknown", None)]
)
def test_the_log_group_of_the_module_keeps_its_retention(tmp_path: Path, given: str, days: Any):
    key = "cloudwatch_log_group_retention_in_days"
    read = read_group(tmp_path, more=f"{key} = {given}\n  create_cloudwatch_log_group = false")
    assert at(read, "architecture").get("log_retention_days") == days
    found = outcomes(read)
    assert found[f"module.eks.{key}"][0] == ("taken over" if days else "not supported")
    assert found["module.eks.create_cloudwatch_log_group"] == ("taken over better", "")


def test_a_log_group_of_the_cluster_is_that_of_the_stack():
    read = corpus("eks-module.plan.json")
    address = "module.eks.aws_cloudwatch_log_group.this[0]"
    assert at(read, "architecture", "log_retention_days") == 90
    found = outcomes(read)
    assert found[f"{address}.retention_in_days"] == (
        "taken over",
        "architecture.log_retention_days",
    )
    assert found[f"{address}.name"] == ("implied", "")


def test_what_the_files_do_not_say_is_left_for_the_user(tmp_path: Path):
    read = read_group(tmp_path, "desired_size = var.unknown\nsubnet_ids = [var.unknown]\n"
                      "enable_efa_support = true")  # fmt: skip
    assert "desired" not in gpu(read)
    assert set(read.stack.unknown) == {
        ("architecture", "node_groups", "gpu", "desired"),
        ("architecture", "node_groups", "gpu", "subnet_id"),
    }


def test_a_second_cluster_is_reported(tmp_path: Path):
    other = 'resource "aws_eks_cluster" "b" {\n  name = "b"\n}\n'
    read = read_directory(tmp_path, main=CLUSTER.format(group="", more="") + other)
    entry = next(each for each in read.entries if each.location[0] == "aws_eks_cluster.b")
    assert entry.claim.fate == "not supported"
    assert "module.eks" in entry.claim.why


@pytest.mark.parametrize(
    ("attributes", "more", "public"),
    [
        ("", "", False),
        ("map_public_ip_on_launch = true", "", True),
        ('tags = { "kubernetes.io/role/elb" = "1" }', "", True),
        ("", 'gateway_id = "igw-0123456789abcdef0"', True),
        ("", 'nat_gateway_id = "nat-0123456789abcdef0"', False),
    ],
)
def test_subnets_of_resources_are_public_or_private(
    tmp_path: Path, attributes: str, more: str, public: bool
):
    route = """
    resource "aws_route_table" "one" {}
    resource "aws_route" "out" {
      route_table_id = aws_route_table.one.id
      %s
    }
    resource "aws_route_table_association" "one" {
      subnet_id      = aws_subnet.one.id
      route_table_id = aws_route_table.one.id
    }
    """
    cluster = """
    resource "aws_eks_cluster" "train" {
      name = "train"
      vpc_config { subnet_ids = [aws_subnet.one.id] }
    }
    resource "aws_subnet" "one" { %s }
    """
    main = cluster % attributes + (route % more if more else "")
    found = outcomes(read_directory(tmp_path, main=main))
    key = "network.public_subnet_ids" if public else "network.private_subnet_ids"
    assert found["aws_eks_cluster.train.vpc_config[0].subnet_ids[0]"] == ("not supported", key)

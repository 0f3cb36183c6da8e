"""Plans and states, as `terraform show -json` prints them, become the same as the files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.importing import at, outcomes
from tests.trainyard.importing.terraform.test_conversion import corpus
from trainyard.importing.imported import Imported, import_file
from trainyard.importing.lint import lint
from trainyard.importing.source import text_of

CLUSTER = {"name": "train", "version": "1.34", "vpc_config": [{"subnet_ids": []}]}
P5 = {"instance_type": "p5.48xlarge"}
RESERVED = {
    "capacity_reservation_specification": [
        {"capacity_reservation_target": [{"capacity_reservation_id": "cr-0123456789abcdef0"}]}
    ]
}


def resource(address: str, values: Mapping[str, Any]) -> dict[str, Any]:
    kind, name = address.split(".")
    found = {"address": address, "mode": "managed", "type": kind, "name": name}
    return {**found, "values": values, "sensitive_values": {}}


def state(*resources: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    root = {"root_module": {"resources": resources}}
    return {"format_version": "1.0", "terraform_version": "1.13.4", "values": {**root, **more}}


def plan(
    *resources: Mapping[str, Any],
    unknown: Mapping[str, Any],
    configuration: Mapping[str, Any],
    **more: Any,
) -> dict[str, Any]:
    changes = [{"address": key, "change": {"after_unknown": each}} for key, each in unknown.items()]
    return {
        "format_version": "1.2",
        "planned_values": {"root_module": {"resources": resources}},
        "resource_changes": changes,
        "configuration": configuration,
        **more,
    }


def read(directory: Path, content: Mapping[str, Any]) -> Imported:
    path = directory / "shown.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    (found,) = import_file(path)
    assert isinstance(found, Imported)
    return found


def test_a_plan_of_the_modules_becomes_what_their_calls_become():
    found = corpus("eks-module.plan.json")
    assert (found.stack.name, found.stack.region, found.problems) == ("train", "us-west-2", [])
    assert at(found, "network") == {"kind": "existing-vpc", "public_subnet_ids": []}
    assert at(found, "architecture", "node_groups", "p5") == {
        "management": "managed",
        "minimum": 0,
        "desired": 4,
        "maximum": 4,
        "purchase_option": "p5",
        "efa_enabled": True,
        "auto_repair": True,
        "instance_type": "p5.48xlarge",
        "root_volume": {"throughput_mibps": 250, "size_gib": 500},
        "labels": {"vpc.amazonaws.com/efa.present": "true"},
        "iam_policies": ["AmazonS3ReadOnlyAccess"],
        "taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
    }
    assert at(found, "reservations", "p5") == {
        "kind": "capacity-block",
        "reservation_id": "cr-0123456789abcdef0",
    }
    # The plan does not say which of the subnets of the VPC the group of the user has.
    place = ("architecture", "node_groups", "p5", "availability_zone")
    network = {("network", "vpc_id"), ("network", "private_subnet_ids")}
    assert set(found.stack.unknown) == {place, *network}


def test_a_state_is_read_with_the_ids_of_what_exists():
    found = corpus("eks.state.json")
    assert found.stack.region == "us-west-2"
    assert at(found, "network") == {
        "kind": "existing-vpc",
        "vpc_id": "vpc-0123456789abcdef0",
        "private_subnet_ids": ["subnet-0a000000000000002", "subnet-0b000000000000002"],
        "public_subnet_ids": [],
    }
    groups = at(found, "architecture", "node_groups")
    assert set(groups) == {"p5", "spot"}, "the Auto Scaling group of the bastion has no nodes"
    assert groups["p5"]["efa_enabled"] is True
    assert groups["p5"]["subnet_id"] == "subnet-0b000000000000002"
    assert groups["p5"]["root_volume"] == {"size_gib": 300}
    assert groups["spot"]["management"] == "self-managed"
    assert groups["spot"]["instance_type"] == "g6.12xlarge"
    assert at(found, "reservations", "p5", "reservation_id") == "cr-00d00000000000002"
    (entry,) = [each for each in found.entries if "aws_fsx_lustre" in str(each.location)]
    assert entry.value == "aws_fsx_lustre_file_system (fs-0f5c0000000000001)"
    assert found.stack.unknown == {}


@pytest.mark.parametrize("name", ["eks-module.plan.json", "eks.state.json"])
def test_secrets_and_user_data_are_not_shown(name: str):
    found = corpus(name)
    shown = str([entry.as_json() for entry in found.entries]) + str(found.stack.values)
    assert "hunter2" not in shown
    assert "TUlNRS1WZXJzaW9u" not in shown


def test_a_variable_is_a_secret_unless_the_plan_declares_that_it_is_none(tmp_path: Path):
    declared = {"root_module": {"variables": {"open": {}, "marked": {"sensitive": True}}}}
    values = {name: {"value": f"of-{name}"} for name in ("open", "marked", "undeclared")}
    cluster = resource("aws_eks_cluster.a", CLUSTER)
    found = read(tmp_path, plan(cluster, unknown={}, configuration=declared, variables=values))
    shown = {text_of(each.location): each.value for each in found.entries}
    assert shown["var.open.value"] == "of-open"
    assert shown["var.marked.value"] == shown["var.undeclared.value"] == "(sensitive)"


def test_values_of_an_old_terraform_that_marks_no_secrets_are_not_shown(tmp_path: Path):
    secret = {"address": "random_password.a", "mode": "managed", "type": "random_password",
              "name": "a", "values": {"result": "hunter2"}}  # fmt: skip
    found = read(tmp_path, state(resource("aws_eks_cluster.a", CLUSTER), secret))
    shown = {text_of(each.location): each.value for each in found.entries}
    assert shown["random_password.a.values"] == "(sensitive)"
    assert shown["aws_eks_cluster.a.name"] == "train"


def test_an_attribute_of_another_version_of_the_provider_is_reported_and_not_refused(
    tmp_path: Path,
):
    values = {**CLUSTER, "of_the_future": {"a": [1]}, "enabled_cluster_log_types": {"a": 1}}
    found = read(tmp_path, state(resource("aws_eks_cluster.a", values)))
    assert found.problems == []
    assert outcomes(found)["aws_eks_cluster.a.of_the_future.a[0]"] == ("not supported", "")


def test_what_has_no_value_is_implied_and_hides_no_value_of_the_template(tmp_path: Path):
    group = {"launch_template": [{"id": "lt-0123456789abcdef0"}], "instance_types": [],
             "disk_size": 0, "labels": {"empty": ""}, "version": ""}  # fmt: skip
    template = {**P5, **RESERVED, "id": "lt-0123456789abcdef0", "key_name": ""}
    found = read(
        tmp_path,
        state(
            resource("aws_eks_cluster.a", CLUSTER),
            resource("aws_eks_node_group.gpu", group),
            resource("aws_launch_template.gpu", template),
        ),
    )
    nodes = at(found, "architecture", "node_groups", "gpu")
    assert nodes["instance_type"] == "p5.48xlarge"
    assert nodes["root_volume"] == {"size_gib": 20}
    assert nodes["labels"] == {"empty": ""}
    assert "ssh_key_name" not in nodes
    assert outcomes(found)["aws_eks_node_group.gpu.instance_types"] == ("implied", "")


TEMPLATE_ID = {"launch_template": [{"id": True}]}
REFERENCE = {"launch_template": [{"id": {"references": ["aws_launch_template.b.id"]}}]}


@pytest.mark.parametrize(
    ("expressions", "templates", "reserved"),
    [
        (REFERENCE, {"a": P5, "b": {**P5, **RESERVED}}, True),
        (REFERENCE, {"a": {**P5, **RESERVED}, "b": P5}, False),
        # A `dynamic` block is not in the configuration.
        ({}, {"a": {**P5, **RESERVED}}, True),
        ({}, {"a": {**P5, **RESERVED}, "b": P5}, False),
    ],
    ids=["reference", "other", "dynamic", "dynamic-of-two"],
)
def test_the_template_of_a_plan_is_that_of_the_expression_or_the_only_one(
    tmp_path: Path, expressions: Any, templates: Mapping[str, Any], reserved: bool
):
    group = {"address": "aws_eks_node_group.gpu", "expressions": expressions}
    found = read(
        tmp_path,
        plan(
            resource("aws_eks_cluster.a", CLUSTER),
            resource("aws_eks_node_group.gpu", {"launch_template": [{}]}),
            *(resource(f"aws_launch_template.{name}", each) for name, each in templates.items()),
            unknown={"aws_eks_node_group.gpu": TEMPLATE_ID},
            configuration={"root_module": {"resources": [group]}},
        ),
    )
    assert ("gpu" in at(found).get("reservations", {})) is reserved


def test_a_reservation_in_a_new_placement_group_is_a_finding(tmp_path: Path):
    interfaces = [{"interface_type": "efa", "network_card_index": 0, "device_index": 0}]
    template = {**P5, **RESERVED, "id": "lt-0123456789abcdef0", "network_interfaces": interfaces,
                "placement": [{"group_name": "new"}]}  # fmt: skip
    group = {"launch_template": [{"id": "lt-0123456789abcdef0"}]}
    found = read(
        tmp_path,
        state(
            resource("aws_eks_cluster.a", CLUSTER),
            resource("aws_eks_node_group.gpu", group),
            resource("aws_launch_template.gpu", template),
            resource("aws_placement_group.gpu", {"name": "new", "id": "new"}),
        ),
    )
    keys = [each.key for each in lint(found) if each.rule == "B9"]
    assert keys == ["aws_launch_template.gpu.placement[0].group_name"]


@pytest.mark.parametrize(
    "change",
    [
        {"configuration": {"root_module": {"resources": 3, "module_calls": [], "outputs": None}}},
        {"configuration": {"provider_config": {"aws": {"expressions": {"region": [1]}}}}},
        {"configuration": {"root_module": {"resources": [
            {"address": "aws_eks_cluster.a", "expressions": {"vpc_config": [
                {"subnet_ids": {"references": ["var.a", None, "module.b.c", 3]}}]}}]}}},
        {"resource_changes": [None, {"change": {"after_unknown": True}}]},
        {"resource_changes": [{"address": "aws_eks_cluster.a", "change": {"after_unknown": True}}]},
        {"resource_changes": [{"address": "aws_eks_cluster.a", "change": {
            "after_unknown": {"name": [True], "vpc_config": {"a": True}}}}]},
        {"variables": {"a": None, "b": {"value": None}}},
        {"planned_values": {"outputs": [1], "root_module": {
            "child_modules": [None, 3], "resources": [{}, {
                "address": "aws_eks_cluster.a", "type": "aws_eks_cluster", "values": [1]}]}}},
    ],
)  # fmt: skip
def test_a_plan_with_parts_of_another_form_is_read_as_far_as_it_goes(
    tmp_path: Path, change: Mapping[str, Any]
):
    cluster = resource("aws_eks_cluster.a", CLUSTER)
    found = read(tmp_path, {**plan(cluster, unknown={}, configuration={}), **change})
    assert found.entries
    lint(found)


def test_a_finding_has_the_line_of_the_value(tmp_path: Path):
    text = json.dumps(
        state(resource("aws_eks_cluster.a", {**CLUSTER, "version": "1.20"})), indent=2
    )
    path = tmp_path / "state.json"
    path.write_text(text, encoding="utf-8")
    (found,) = import_file(path)
    assert isinstance(found, Imported)
    (finding,) = (each for each in lint(found) if each.rule == "H5")
    assert '"version": "1.20"' in text.splitlines()[finding.line - 1]


def test_a_plan_that_powershell_wrote_is_read(tmp_path: Path):
    path = tmp_path / "plan.json"
    text = json.dumps(state(resource("aws_eks_cluster.a", CLUSTER)))
    path.write_text(text, encoding="utf-16")
    (found,) = import_file(path)
    assert isinstance(found, Imported)
    assert found.stack.name == "train"

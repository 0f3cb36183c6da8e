"""A template of a VPC or of AWS Batch becomes the stack file that means the same."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from tests.support.import_sources import NETWORK, batch, template
from tests.support.importing import at, outcomes, read_text
from trainyard.importing.cloudformation.template import (
    NoParametersError,
    parameter_files_among,
)
from trainyard.importing.imported import Imported, import_file
from trainyard.importing.lint import lint

POOL = ("architecture", "compute_environments", "Nodes")
PARAMETERS = (
    "Parameters:\n"
    "  Most: {Type: Number, Default: 192, Description: vCPUs}\n"
    "  Unused: {Type: String, Default: x}\n"
)


BY_ID = "CapacityReservationId: cr-0123456789abcdef0"


def target(reservation: str) -> str:
    """Return the line of `LaunchTemplateData` that targets a reservation."""
    return f"CapacityReservationSpecification: {{CapacityReservationTarget: {{{reservation}}}}}\n"


def test_a_vpc_is_a_network_stack_in_the_region_of_its_zones(tmp_path: Path):
    read = read_text(tmp_path, template())
    assert read.stack.region == "us-west-2"
    assert at(read, "architecture") == {
        "kind": "network",
        "efa_security_group": False,
        "lustre_security_group": False,
    }
    assert at(read, "network") == {
        "kind": "new-vpc",
        "cidr": "10.0.0.0/16",
        "availability_zones": ["us-west-2b"],
        "private_subnet_cidrs": ["10.0.0.0/17"],
        "public_subnets": False,
        "nat_gateways": "none",
        "gateway_endpoints": [],
    }


def test_zones_of_the_account_are_left_to_the_user(tmp_path: Path):
    read = read_text(tmp_path, template(NETWORK.replace("us-west-2b", "!Select [0, !GetAZs '']")))
    assert ("network", "availability_zones") in read.stack.unknown
    assert at(read, "network", "private_subnet_cidrs") == ["10.0.0.0/17"]


@pytest.mark.parametrize(
    ("rule", "efa", "lustre"),
    [
        ("{IpProtocol: -1, SourceSecurityGroupId: !Ref Group}", True, False),
        ("{IpProtocol: tcp, FromPort: 988, ToPort: 988, CidrIp: 10.0.0.0/16}", False, True),
        ("{IpProtocol: tcp, FromPort: 22, ToPort: 22, CidrIp: 10.0.0.0/16}", False, False),
    ],
)
def test_groups_of_efa_and_lustre_are_those_of_the_rules(
    tmp_path: Path, rule: str, efa: bool, lustre: bool
):
    inline = f"SecurityGroupIngress: [{rule}]"
    group = (
        "Group:\n  Type: AWS::EC2::SecurityGroup\n  Properties:\n    GroupDescription: g\n"
        f"    {inline if 'Ref' not in rule else 'VpcId: !Ref Vpc'}\n"
    )
    if "Ref" in rule:
        own = rule.replace("{", "{GroupId: !Ref Group, ")
        group += f"Rule: {{Type: 'AWS::EC2::SecurityGroupIngress', Properties: {own}}}\n"
    read = read_text(tmp_path, template(NETWORK + group))
    found = at(read, "architecture")
    assert (found["efa_security_group"], found["lustre_security_group"]) == (efa, lustre)
    wanted = "taken over" if efa or lustre else "not supported"
    assert outcomes(read)["Resources.Group.Type"][0] == wanted


@pytest.mark.parametrize(
    ("resources", "sizes", "said"),
    [
        ("MaxvCpus: 400", {"maximum": 2}, "400 vCPUs are 2 nodes"),
        ("MaxvCpus: 400\nMinvCpus: 200", {"maximum": 2, "minimum": 2}, "rounded down"),
        ("MaxvCpus: 100", {"maximum": 1}, "no node"),
        ("MaxvCpus: !Ref Most", {"maximum": 1}, "192 vCPUs are 1 nodes"),
    ],
)
def test_vcpus_are_numbers_of_nodes_with_the_calculation(
    tmp_path: Path, resources: str, sizes: dict[str, int], said: str
):
    read = read_text(tmp_path, batch(resources, more=PARAMETERS))
    pool = at(read, *POOL)
    assert {key: pool[key] for key in ("minimum", "maximum") if key in pool} == sizes
    (entry,) = [entry for entry in read.entries if entry.location[-1] == "MaxvCpus"]
    assert said in entry.claim.why


def test_a_parameter_that_nothing_uses_is_dropped(tmp_path: Path):
    found = outcomes(read_text(tmp_path, batch("MaxvCpus: !Ref Most", more=PARAMETERS)))
    assert found["Parameters.Most.Default"] == (
        "taken over", "architecture.compute_environments.Nodes.maximum"
    )  # fmt: skip
    assert found["Parameters.Most.Description"][0] == "dropped"
    assert found["Parameters.Unused.Default"] == ("dropped", "")


@pytest.mark.parametrize(
    "content",
    [
        [{"ParameterKey": "Most", "ParameterValue": "960"},
         {"ParameterKey": "Other", "ParameterValue": "x"}],
        {"Parameters": {"Most": "960", "Other": "x"}},
        ["Most=960", "Other=x"],
    ],
    ids=["cloudformation", "template configuration", "overrides"],
)  # fmt: skip
def test_a_parameter_file_has_the_values_and_is_in_the_report(tmp_path: Path, content: Any):
    source, values = tmp_path / "nodes.yaml", tmp_path / "values.json"
    source.write_text(batch("MaxvCpus: !Ref Most", more=PARAMETERS), encoding="utf-8")
    values.write_text(json.dumps(content), encoding="utf-8")
    files, parameters = parameter_files_among([source, values], [])
    assert files == [source]
    (read,) = import_file(source, parameters=parameters)
    assert isinstance(read, Imported)
    assert at(read, *POOL, "maximum") == 5
    assert outcomes(read)["Parameters.Most.Default"][0] == "dropped"
    of_file = {str(each.value): each.claim.fate for each in read.entries if each.file}
    assert {of_file.get("960", of_file.get("Most=960")),
            of_file.get("x", of_file.get("Other=x"))} == {"taken over", "dropped"}  # fmt: skip
    with pytest.raises(NoParametersError, match="ParameterKey"):
        parameter_files_among([source], [source])


@pytest.mark.parametrize(
    ("launch", "reservations", "option"),
    [
        ("InstanceMarketOptions: {MarketType: capacity-block}\n" + target(BY_ID),
         {"block": {"kind": "capacity-block", "reservation_id": "cr-0123456789abcdef0"}}, "block"),
        (target(BY_ID),
         {"reservation": {"kind": "odcr", "reservation_id": "cr-0123456789abcdef0"}},
         "reservation"),
        (target("CapacityReservationResourceGroupArn: arn:group"),
         {"group": {"kind": "odcr-group", "group_arn": "arn:group"}}, "group"),
        ("InstanceMarketOptions: {MarketType: spot}\n", None, "spot"),
        ("", None, "on-demand"),
    ],
    ids=["block", "reservation", "group", "spot", "on demand"],
)  # fmt: skip
def test_capacity_by_its_launch_template(
    tmp_path: Path, launch: str, reservations: dict[str, Any] | None, option: str
):
    read = read_text(tmp_path, batch(launch=launch))
    assert read.stack.values.get("reservations") == reservations
    assert (at(read, *POOL, "purchase_option"), at(read, *POOL, "efa_enabled")) == (option, True)


def test_an_interruptible_reservation_is_not_taken_for_an_ordinary_one(tmp_path: Path):
    market = "InstanceMarketOptions: {MarketType: interruptible-capacity-reservation}\n"
    read = read_text(tmp_path, batch(launch=market + target(BY_ID)))
    (fate, _), *_ = (f for key, f in outcomes(read).items() if key.endswith("MarketType"))
    assert fate == "not supported"


@pytest.mark.parametrize(
    ("resources", "placement"),
    [
        ("PlacementGroup: mine", {"group": "existing", "name": "mine"}),
        ("PlacementGroup: !If [Without, !Ref 'AWS::NoValue', mine]", None),
    ],
)
def test_a_placement_group_is_that_of_the_condition(
    tmp_path: Path, resources: str, placement: dict[str, str] | None
):
    conditions = "Conditions: {Without: !Equals [a, a]}\n"
    read = read_text(tmp_path, batch(f"MaxvCpus: 384\n{resources}", more=conditions))
    assert at(read, *POOL).get("placement") == placement


@pytest.mark.parametrize(
    ("device", "fate"),
    [("/dev/xvda", "taken over"), ("/dev/sda1", "taken over"), ("/dev/xvdcz", "not supported")],
)
def test_a_root_device_is_that_of_the_amis(tmp_path: Path, device: str, fate: str):
    volume = f"BlockDeviceMappings: [{{DeviceName: {device}, Ebs: {{VolumeSize: 200}}}}]\n"
    found = outcomes(read_text(tmp_path, batch(launch=volume)))
    field = "Resources.Launch.Properties.LaunchTemplateData.BlockDeviceMappings[0].Ebs.VolumeSize"
    assert found[field][0] == fate


@pytest.mark.parametrize(
    ("policy", "fate"),
    [("Retain", "implied"), ("RetainExceptOnCreate", "implied"), ("Delete", "not supported")],
)
def test_a_repository_is_kept_as_repositories_of_stacks_are(tmp_path: Path, policy: str, fate: str):
    kept = f"Images:\n  Type: AWS::ECR::Repository\n  DeletionPolicy: {policy}\n"
    read = read_text(tmp_path, batch() + indent(kept, "  "))
    assert outcomes(read)["Resources.Images.DeletionPolicy"][0] == fate
    assert "deletion_protection" not in at(read, "architecture", "repository")


def test_names_are_as_long_as_those_of_aws_objects_can_be(tmp_path: Path):
    long = batch().replace("Nodes:", "ComputeEnvironmentOfTheTeamThatTrainsLargeModels:")
    read = read_text(tmp_path, long)
    (name,) = at(read, "architecture", "compute_environments")
    assert "ComputeEnvironmentOfTheTeam".startswith(name[:20])
    (entry,) = [entry for entry in read.entries if entry.location[1:] ==
                ("ComputeEnvironmentOfTheTeamThatTrainsLargeModels", "Type")]  # fmt: skip
    assert "limit" in entry.claim.why


def test_an_object_that_no_stack_makes_has_what_to_do(tmp_path: Path):
    more = "Files: {Type: 'AWS::FSx::FileSystem', Properties: {FileSystemType: LUSTRE}}\n"
    read = read_text(tmp_path, template(NETWORK + more))
    (entry,) = [each for each in read.entries if each.value == "LUSTRE"]
    assert entry.claim.fate == "not supported"
    assert "`existing-fsx-lustre`" in entry.claim.why


def test_a_template_of_other_objects_says_what_to_do_about_each(tmp_path: Path):
    cluster = "Cluster: {Type: 'AWS::SageMaker::Cluster', Properties: {ClusterName: train}}\n"
    invoked = "Invoked: {Type: 'Custom::Run', Version: '1.0', Properties: {ServiceToken: x}}\n"
    read = read_text(tmp_path, template(cluster + invoked))
    assert read.problems == []
    assert lint(read) == []
    whys = {entry.value: entry.claim.why for entry in read.entries}
    assert "--kind eks" in whys["train"]
    assert "keep it in a CloudFormation stack" in whys["1.0"]
    assert "import --live" in read.report.notes[0]
    assert ("network",) in read.stack.unknown


def job(container: str, more: str = "") -> str:
    """Return a template with a compute environment and a job definition."""
    return batch() + (
        "  Job:\n"
        "    Type: AWS::Batch::JobDefinition\n"
        f"    Properties: {{Type: container, ContainerProperties: {{{container}}}{more}}}\n"
    )


def test_a_container_is_taken_over_with_requirements_in_whole_numbers(tmp_path: Path):
    arn = "arn:aws:secretsmanager:us-west-2:123456789012:secret:hf-AbCdEf:token::"
    container = (
        'Image: "registry.example/train:1", Command: [python, 3], ResourceRequirements: '
        '[{Type: VCPU, Value: "0.5"}, {Type: MEMORY, Value: 64}], Secrets: '
        f'[{{Name: TOKEN, ValueFrom: "{arn}"}}, {{Name: OTHER, ValueFrom: /team/x}}]'
    )
    more = ", RetryStrategy: {Attempts: 3}, Timeout: {AttemptDurationSeconds: 61}"
    read = read_text(tmp_path, job(container, more))
    assert at(read, "architecture", "job_definitions", "Job") == {
        "compute_environment": "Nodes",
        "image": "registry.example/train:1",
        "command": ["python", "3"],
        "secrets": {"TOKEN": arn},
        "vcpus": 1,
        "memory_mib": 64,
        "attempts": 3,
        "timeout_minutes": 2,
    }
    found = outcomes(read)
    at_secrets = "Resources.Job.Properties.ContainerProperties.Secrets"
    assert found[f"{at_secrets}[1].ValueFrom"][0] == "not supported"


@pytest.mark.parametrize(
    ("more", "field", "why"),
    [
        (', Parameters: {size: "1"}', "Parameters.size", "write the values into `command`"),
        (", PlatformCapabilities: [FARGATE]", "Type", "EC2 instances"),
        (", SchedulingPriority: 5", "SchedulingPriority", "first in, first out"),
    ],
)
def test_what_a_job_of_a_stack_cannot_have_has_what_to_do(
    tmp_path: Path, more: str, field: str, why: str
):
    read = read_text(tmp_path, job("Image: 'a:1'", more))
    at_field = f"Resources.Job.Properties.{field}"
    (entry,) = [each for each in read.entries if ".".join(map(str, each.location)) == at_field]
    assert (entry.claim.fate, why in entry.claim.why) == ("not supported", True)

"""An EKS cluster of a template becomes the stack file that means the same."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from tests.support.import_sources import NETWORK, template
from tests.support.importing import at, fates, read_text
from trainyard.components.config.load import load_stack_config
from trainyard.importing.imported import Imported
from trainyard.importing.lint import lint

CLUSTER = """\
Cluster:
  Type: AWS::EKS::Cluster
  Properties:
    Name: train
    Version: "1.34"
    RoleArn: !GetAtt Role.Arn
    Tags: [{Key: team, Value: vision}]
    Logging: {ClusterLogging: {EnabledTypes: [{Type: api}, {Type: audit}]}}
    AccessConfig: {AuthenticationMode: API}
    ResourcesVpcConfig:
      SubnetIds: [!Ref Private, !Ref Other]
      EndpointPublicAccess: "true"
"""
OTHER = """\
Other:
  Type: AWS::EC2::Subnet
  Properties: {VpcId: !Ref Vpc, CidrBlock: 10.0.128.0/17, AvailabilityZone: us-west-2c}
"""
BLOCK = """\
InstanceType: p5.48xlarge
NetworkInterfaces: [{InterfaceType: efa, NetworkCardIndex: 0, DeviceIndex: 0}]
InstanceMarketOptions: {MarketType: capacity-block}
CapacityReservationSpecification:
  CapacityReservationTarget: {CapacityReservationId: cr-0123456789abcdef0}
"""
POOL = ("architecture", "node_groups", "Nodes")
PROPERTIES = "Resources.Nodes.Properties"


def group(lines: str = "", subnets: str = "[!Ref Private]", launch: str = BLOCK) -> str:
    """Return a managed node group with a launch template and a role.

    Args:
        lines: Properties of the node group.
        subnets: Its subnets.
        launch: Lines of `LaunchTemplateData`.
    """
    return (
        "Role:\n"
        "  Type: AWS::IAM::Role\n"
        "  Properties:\n"
        "    ManagedPolicyArns:\n"
        '      - !Sub "arn:${AWS::Partition}:iam::aws:policy/AmazonEKSWorkerNodePolicy"\n'
        "      - arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess\n"
        "Launch:\n"
        "  Type: AWS::EC2::LaunchTemplate\n"
        "  Properties:\n"
        f"    LaunchTemplateData:\n{indent(launch, '      ')}"
        "Nodes:\n"
        "  Type: AWS::EKS::Nodegroup\n"
        "  Properties:\n"
        "    ClusterName: !Ref Cluster\n"
        "    NodeRole: !GetAtt Role.Arn\n"
        f"    Subnets: {subnets}\n"
        "    LaunchTemplate: {Id: !Ref Launch, Version: !GetAtt Launch.LatestVersionNumber}\n"
        f"{indent(lines, '    ')}"
    )


def read_group(directory: Path, *arguments: str) -> Imported:
    return read_text(directory, template(NETWORK + OTHER + CLUSTER + group(*arguments)))


def test_a_cluster_is_a_stack_of_eks_with_the_vpc_of_the_template(tmp_path: Path):
    read = read_group(tmp_path, "ScalingConfig: {MinSize: 0, DesiredSize: 4, MaxSize: 4}\n")
    assert read.problems == []
    assert read.stack.name == "train"
    assert read.stack.region == "us-west-2"
    assert at(read, "tags") == {"team": "vision"}
    architecture = at(read, "architecture")
    assert architecture["kind"] == "eks"
    assert architecture["kubernetes_version"] == "1.34"
    assert architecture["authentication_mode"] == "API"
    assert architecture["log_types"] == ["api", "audit"]
    assert architecture["endpoint"] == {"public_access": True}
    assert at(read, "network", "availability_zones") == ["us-west-2b", "us-west-2c"]
    assert read.stack.unknown == {}
    load_stack_config(read.stack.completed(), stack_file="stack.yaml")


def test_a_group_launches_into_the_block_of_its_template_in_the_zone_of_its_subnet(tmp_path: Path):
    lines = (
        'ScalingConfig: {MinSize: "0", DesiredSize: "4", MaxSize: "4"}\n'
        "CapacityType: CAPACITY_BLOCK\n"
        "Labels: {Role: train}\n"
        'Taints: [{Key: gpu, Value: "yes", Effect: NO_SCHEDULE}]\n'
    )
    read = read_group(tmp_path, lines)
    assert at(read, *POOL) == {
        "management": "managed",
        "minimum": 0,
        "desired": 4,
        "maximum": 4,
        "purchase_option": "Nodes",
        "efa_enabled": True,
        "taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}],
        "instance_type": "p5.48xlarge",
        "root_volume": {"size_gib": 80},
        "labels": {"Role": "train"},
        "addon_policies": [],
        "iam_policies": ["AmazonS3ReadOnlyAccess"],
        "interface_layout": "efa",
        "availability_zone": "us-west-2b",
    }
    assert at(read, "reservations", "Nodes") == {
        "kind": "capacity-block",
        "reservation_id": "cr-0123456789abcdef0",
    }
    found = fates(read)
    pool = ".".join(POOL)
    assert found["Resources.Nodes.Type"] == ("taken over", pool)
    assert found[f"{PROPERTIES}.Subnets[0]"] == ("taken over", f"{pool}.availability_zone")
    assert found["Resources.Role.Properties.ManagedPolicyArns[0]"][0] == "implied"


def test_a_launch_template_can_be_named(tmp_path: Path):
    named = group().replace("Id: !Ref Launch", "Name: !GetAtt Launch.LaunchTemplateName")
    read = read_text(tmp_path, template(NETWORK + OTHER + CLUSTER + named))
    assert at(read, *POOL, "instance_type") == "p5.48xlarge"


@pytest.mark.parametrize(
    ("subnets", "launch", "fate", "unknown"),
    [
        ("[!Ref Private, !Ref Other]", BLOCK, "not supported", True),
        ("[!Ref Private, !Ref Other]", "InstanceType: c5.large\n", "implied", False),
        ("[!ImportValue Subnet]", BLOCK, "not supported", True),
    ],
    ids=["several with EFA", "several without", "of another template"],
)
def test_nodes_with_efa_need_one_zone(
    tmp_path: Path, subnets: str, launch: str, fate: str, unknown: bool
):
    # Without a taint, the group of c5.large would be that of the system.
    read = read_group(tmp_path, "Taints: [{Key: a, Effect: NO_EXECUTE}]\n", subnets, launch)
    assert fates(read)[f"{PROPERTIES}.Subnets[0]"][0] == fate
    assert ((*POOL, "availability_zone") in read.stack.unknown) is unknown


def test_subnets_of_an_existing_vpc_are_those_of_the_network(tmp_path: Path):
    ids = [f"subnet-0123456789abcdef{number}" for number in range(2)]
    cluster = CLUSTER.replace("!Ref Private, !Ref Other", ", ".join(ids))
    read = read_text(tmp_path, template(cluster + group(subnets=f"[{ids[0]}]")))
    network = at(read, "network")
    assert network["kind"] == "existing-vpc"
    assert network["private_subnet_ids"] == ids
    assert at(read, *POOL, "subnet_id") == ids[0]
    assert ("network", "vpc_id") in read.stack.unknown


def test_subnets_that_are_a_parameter_are_left_to_the_user(tmp_path: Path):
    cluster = CLUSTER.replace("[!Ref Private, !Ref Other]", "!Ref Subnets")
    parameters = "Parameters: {Subnets: {Type: 'List<AWS::EC2::Subnet::Id>'}}\n"
    read = read_text(tmp_path, template(cluster + group(subnets="!Ref Subnets"), parameters))
    assert ("network", "private_subnet_ids") in read.stack.unknown
    assert at(read, "network", "kind") == "existing-vpc"


def test_a_group_for_services_is_that_of_the_system(tmp_path: Path):
    read = read_group(tmp_path, "InstanceTypes: [m5.xlarge]\n", "[!Ref Private]", "KeyName: a\n")
    assert at(read, "architecture", "system_node_group", "instance_type") == "m5.xlarge"
    assert fates(read)["Resources.Nodes.Type"][1] == "architecture.system_node_group"
    assert fates(read)[f"{PROPERTIES}.Subnets[0]"][0] == "implied"


@pytest.mark.parametrize("name", ["/aws/eks/train/cluster", '!Sub "/aws/eks/${Cluster}/cluster"'])
def test_the_log_group_of_the_control_plane_has_its_retention(tmp_path: Path, name: str):
    logs = (
        "Logs:\n  Type: AWS::Logs::LogGroup\n"
        f"  Properties: {{LogGroupName: {name}, RetentionInDays: 30}}\n"
    )
    read = read_text(tmp_path, template(NETWORK + OTHER + CLUSTER + group() + logs))
    assert at(read, "architecture", "log_retention_days") == 30
    assert fates(read)["Resources.Logs.Type"][0] == "implied"
    claim = fates(read)["Resources.Logs.Properties.RetentionInDays"]
    assert claim == ("taken over", "architecture.log_retention_days")


def test_node_groups_alone_are_those_of_a_new_cluster(tmp_path: Path):
    read = read_text(tmp_path, template(NETWORK + group()))
    assert at(read, "architecture", "kind") == "eks"
    assert [*at(read, "architecture", "node_groups")] == ["Nodes"]


def test_addons_and_access_entries_are_in_the_report(tmp_path: Path):
    more = (
        "Ebs:\n  Type: AWS::EKS::Addon\n"
        "  Properties: {ClusterName: train, AddonName: aws-ebs-csi-driver, "
        "ResolveConflicts: OVERWRITE}\n"
        "Admin:\n  Type: AWS::EKS::AccessEntry\n"
        "  Properties: {ClusterName: train, PrincipalArn: 'arn:aws:iam::111122223333:role/a'}\n"
        "Second: {Type: 'AWS::EKS::Cluster', Properties: {Name: second}}\n"
        "Pods: {Type: 'AWS::EKS::FargateProfile', Properties: {ClusterName: train}}\n"
    )
    read = read_text(tmp_path, template(NETWORK + OTHER + CLUSTER + group() + more))
    assert at(read, "architecture", "addons") == {"ebs_csi_driver": True}
    found = fates(read)
    assert found["Resources.Ebs.Type"] == ("taken over", "architecture.addons.ebs_csi_driver")
    whys = {entry.value: entry.claim.why for entry in read.entries}
    assert "aws eks create-access-entry" in whys["AWS::EKS::AccessEntry"]
    assert "one cluster" in whys["second"]
    assert "system node group" in whys["AWS::EKS::FargateProfile"]


@pytest.mark.parametrize(
    ("lines", "field", "said"),
    [
        ("InstanceTypes: !Ref Types\n", "InstanceTypes", "parameter"),
        ("Taints: !Ref Types\n", "Taints", "parameter"),
        ("ScalingConfig: {Steps: 3}\n", "ScalingConfig.Steps", "no setting of EKS"),
        ("Speed: fast\n", "Speed", "no setting of EKS"),
        ("Labels: {}\n", "Labels", "empty"),
    ],
)
def test_what_is_no_value_of_the_api_is_in_the_report(
    tmp_path: Path, lines: str, field: str, said: str
):
    parameters = "Parameters: {Types: {Type: CommaDelimitedList}}\n"
    resources = NETWORK + OTHER + CLUSTER + group(lines, launch="KeyName: a\n")
    read = read_text(tmp_path, template(resources, parameters))
    found = {".".join(map(str, each.location)): each.claim for each in read.entries}
    assert said in found[f"{PROPERTIES}.{field}"].why


def test_an_instance_type_that_is_not_known_is_left_to_the_user(tmp_path: Path):
    parameters = "Parameters: {Type: {Type: String}}\n"
    launch = BLOCK.replace("InstanceType: p5.48xlarge", "InstanceType: !Ref Type")
    resources = NETWORK + OTHER + CLUSTER + group(launch=launch)
    read = read_text(tmp_path, template(resources, parameters))
    assert (*POOL, "instance_type") in read.stack.unknown
    assert "instance_type" not in at(read, *POOL)


def test_user_data_says_whether_nodes_run_scripts(tmp_path: Path):
    data = "UserData: !Base64\n  Fn::Sub: |\n    #!/bin/bash\n    echo ${Cluster}\n"
    read = read_group(tmp_path, "", "[!Ref Private]", BLOCK + data)
    (entry,) = [each for each in read.entries if "UserData" in each.location]
    assert entry.claim.fate == "not supported"
    assert "DaemonSet" in entry.claim.why


def test_findings_have_the_properties_of_the_template(tmp_path: Path):
    read = read_group(tmp_path, "ScalingConfig: {MinSize: 2, DesiredSize: 5, MaxSize: 3}\n")
    (finding,) = [each for each in lint(read) if "DesiredSize" in each.key]
    assert "change `MinSize`, `DesiredSize` or `MaxSize`" in finding.message

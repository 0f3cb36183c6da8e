"""The CloudFormation node group for Capacity Blocks, row by row: EKN-01 to EKN-16."""

from __future__ import annotations

import pytest

from tests.support.eks import CLUSTER_SECURITY_GROUP
from tests.support.parity import better, same
from trainyard.components.catalog.instance_types import INSTANCE_TYPES, instance_type
from trainyard.components.compute.interface_plan import plan_interfaces
from trainyard.stack_files.completion import sandbox_completion
from trainyard.stack_files.stack_files import find_stack_file


@pytest.fixture
def p5(stack):
    """The stack p5-cb: a self-managed node group in a Capacity Block."""
    return stack("p5-cb")


@pytest.fixture
def managed(stack):
    """The stack p5-cb-managed: the same block in a managed node group."""
    return stack("p5-cb-managed")


@better(
    "EKN-01",
    "Nine parameters, among them the cluster's security group, read by hand, and a required "
    "SSH key",
    why="VPC, subnets and reservation are all that is asked; the rest follows from the cluster",
)
def test_only_network_and_reservation_are_asked_of_the_user(p5):
    asked = sandbox_completion(find_stack_file("p5-cb"))
    assert set(asked) == {"network", "reservations"}
    assert set(asked["reservations"]["block"]) == {"reservation_id"}
    assert "keyName" not in p5.template(p5.group)


@better(
    "EKN-02",
    "Minimum 1, desired 3, maximum 4: one more than desired",
    why="never more than the block holds, and none before it starts",
)
def test_sizes_stay_within_the_block(p5):
    group = p5.of_group(p5.group, "aws:autoscaling/group:Group", "-nodes")
    held = p5.config["trainyard:cluster"]["reservations"]["block"]["instance_count"]
    assert (group["minSize"], group["desiredCapacity"], group["maxSize"]) == (0, 2, 2)
    assert group["maxSize"] <= held


@better(
    "EKN-03",
    "p5.48xlarge or p4d.24xlarge",
    why="every type of the catalog that EC2 sells in blocks; p5.48xlarge as it stands",
)
def test_the_type_is_any_that_is_sold_in_blocks(p5):
    assert p5.template(p5.group)["instanceType"] == "p5.48xlarge"
    sold = {name for name, t in INSTANCE_TYPES.items() if "capacity-block" in t.usage_classes}
    assert {"p5.48xlarge", "p4d.24xlarge", "p5en.48xlarge", "trn2.48xlarge"} <= sold


@better(
    "EKN-04",
    "The newest AL2 GPU image for Kubernetes 1.29, by its SSM parameter",
    why="AL2023 of one release, so that a second `up` changes nothing",
)
def test_the_image_is_one_release_of_the_nvidia_image(p5):
    parameter = p5.group.ami_ssm_parameter
    assert "/amazon-linux-2023/x86_64/nvidia/" in parameter
    assert "recommended" not in parameter
    asked = [args["name"] for token, args in p5.cloud.invoked if "ssm/getParameter" in token]
    assert asked == [parameter]
    assert p5.template(p5.group)["imageId"].startswith("ami-")


@better("EKN-05", "/dev/xvda, 500 GiB, gp2", why="gp3, which is faster for less, and encrypted")
def test_the_root_volume_is_encrypted_gp3(p5):
    (volume,) = p5.template(p5.group)["blockDeviceMappings"]
    assert volume == {
        "deviceName": "/dev/xvda",
        "ebs": {
            "deleteOnTermination": "true",
            "encrypted": "true",
            "iops": 3000,
            "throughput": 125,
            "volumeSize": 500,
            "volumeType": "gp3",
        },
    }


@better(
    "EKN-06",
    "Role for EC2 of any partition with worker node, CNI, registry read-only and SSM policies",
    why="nodes only pull from the registry",
)
def test_the_role_is_for_ec2_with_the_four_policies(p5):
    role = p5.of_group(p5.group, "aws:iam/role:Role", "-role")
    assert '"Service": "ec2.amazonaws.com"' in role["assumeRolePolicy"]
    managed, _ = p5.role_policies(p5.group)
    assert managed == {
        "AmazonEKSWorkerNodePolicy",
        "AmazonEKS_CNI_Policy",
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonSSMManagedInstanceCore",
    }
    assert p5.template(p5.group)["iamInstanceProfile"]["arn"].endswith("p5-instance-profile")


@better(
    "EKN-07",
    "Node security group: everything to and from itself, everything out, tagged for the cluster",
    why="the same rules without the tag, which a second time on a node breaks load balancers",
)
def test_the_security_group_of_the_nodes_trusts_itself(p5):
    rules = {
        made.name.removeprefix("p5-cb-efa-"): made.inputs
        for kind in ("Ingress", "Egress")
        for made in p5.cloud.of_type(f"aws:vpc/securityGroup{kind}Rule:SecurityGroup{kind}Rule")
    }
    assert set(rules) == {"ingress-self", "egress-self", "egress-internet"}
    assert {rule["ipProtocol"] for rule in rules.values()} == {"-1"}
    assert rules["egress-internet"]["cidrIpv4"] == "0.0.0.0/0"
    assert rules["ingress-self"]["referencedSecurityGroupId"] == "p5-cb-efa-group-id"


@better(
    "EKN-08",
    "Rules between control plane and nodes: 443 and 1025-65535",
    why="nodes carry the group that EKS makes for the cluster, which lets both sides talk",
)
def test_nodes_carry_the_security_group_of_the_cluster(p5):
    primary = p5.template(p5.group)["networkInterfaces"][0]
    assert (primary["networkCardIndex"], primary["deviceIndex"]) == (0, 0)
    assert CLUSTER_SECURITY_GROUP in primary["securityGroups"]


@better(
    "EKN-09",
    "p5: 32 `efa` interfaces, device 0 on card 0, device 1 on the others; each takes an address",
    why="32 EFA interfaces without addresses beside one with; the old layout is one key away",
)
def test_p5_has_32_efa_interfaces(p5):
    interfaces = p5.template(p5.group)["networkInterfaces"]
    assert [i["networkCardIndex"] for i in interfaces] == [0, *range(32)]
    assert [i["deviceIndex"] for i in interfaces] == [0, 1, *[0] * 31]
    assert [i["interfaceType"] for i in interfaces] == ["interface", *["efa-only"] * 32]
    assert {i["deleteOnTermination"] for i in interfaces} == {"true"}
    old = plan_interfaces(instance_type("p5.48xlarge"), "efa").interfaces
    assert [(i.network_card_index, i.device_index) for i in old] == [
        (0, 0),
        *((card, 1) for card in range(1, 32)),
    ]


@better(
    "EKN-10",
    "p4: four `efa` interfaces",
    why="four EFA interfaces without addresses beside one with, as for p5",
)
def test_p4_has_four_efa_interfaces(stack):
    p4de = stack("eks-p4de-odcr")
    interfaces = p4de.template(p4de.group)["networkInterfaces"]
    efa = [i["networkCardIndex"] for i in interfaces if i["interfaceType"] == "efa-only"]
    assert efa == [0, 1, 2, 3]
    planned = plan_interfaces(instance_type("p4d.24xlarge"), "efa-only")
    assert planned == p4de.group.interfaces


@better(
    "EKN-11",
    "Template: market type, reservation, instance type, key, IMDSv1 unless switched off",
    why="IMDSv2 always, no key, and a managed group can use the same block",
)
def test_the_templates_name_market_reservation_and_type_together(p5, managed):
    for made in (p5, managed):
        template = made.template(made.group)
        assert template["instanceMarketOptions"] == {"marketType": "capacity-block"}
        target = template["capacityReservationSpecification"]["capacityReservationTarget"]
        assert target == {"capacityReservationId": "cr-0123456789abcdef0"}
        assert template["instanceType"] == "p5.48xlarge"
        assert template["metadataOptions"]["httpTokens"] == "required"
    assert managed.managed(managed.group)["capacityType"] == "CAPACITY_BLOCK"


@better(
    "EKN-12",
    "User data: the newest EFA installer from the internet, then /etc/eks/bootstrap.sh",
    why="a NodeConfig and nothing else: the image has EFA, and nothing is downloaded at boot",
)
def test_user_data_is_a_node_config_alone(p5):
    text = p5.user_data(p5.group)
    assert text.count("Content-Type: application/node.eks.aws") == 1
    assert "kind: NodeConfig" in text
    for command in ("#!", "bootstrap.sh", "wget", "efa_installer", "cfn-signal"):
        assert command not in text


@better(
    "EKN-13",
    "Auto Scaling group: newest template, the subnets of the list, tags for name and cluster",
    why="the template by its number, so that a preview shows a change; the block's subnet alone",
)
def test_the_auto_scaling_group_is_in_the_zone_of_the_block(p5):
    group = p5.of_group(p5.group, "aws:autoscaling/group:Group", "-nodes")
    assert group["launchTemplate"] == {"id": "p5-cb-p5-launch-template-id", "version": "1"}
    assert group["vpcZoneIdentifiers"] == ["subnet-0b000000000000002"]
    tags = {tag["key"]: tag["value"] for tag in group["tags"] if tag["propagateAtLaunch"]}
    assert tags["Name"] == "p5-cb-p5-Node"
    assert tags["kubernetes.io/cluster/p5-cb"] == "owned"


@better(
    "EKN-14",
    "Rolling update, one at a time, with all nodes in service: impossible in a full block",
    why="the managed group of the block ends old nodes before it launches new ones",
)
def test_an_update_needs_no_instance_beyond_the_block(managed):
    update = managed.managed(managed.group)["updateConfig"]
    assert update["updateStrategy"] == "MINIMAL"
    assert managed.managed(managed.group)["scalingConfig"]["maxSize"] == 2


@same(
    "EKN-15",
    "Outputs: role, security group and Auto Scaling group of the nodes",
    why="all three, the cluster's security group, VPC and subnets too; the role is let in already",
)
def test_role_security_groups_and_auto_scaling_group_are_outputs(p5):
    outputs = p5.cloud.exports["node_groups"]["p5"]
    assert outputs["role_arn"] == "arn:aws:iam::123456789012:role/p5-cb-p5-role"
    assert outputs["autoscaling_group"] == "p5-cb-p5-nodes"
    groups = p5.cloud.exports["security_group_ids"]
    (efa,) = p5.cloud.of_type("aws:ec2/securityGroup:SecurityGroup")
    assert efa.inputs["tags"]["Name"] == "p5-cb-efa"
    assert groups["efa"] == f"{efa.name}-id"
    assert groups["cluster"] != groups["efa"]


@better(
    "EKN-16",
    "Not covered: p4de, p5e and p5en, access entries, leaving before the block ends",
    why="all of them are, and still no placement group",
)
def test_what_the_template_lacks_is_covered(p5, managed):
    sold = {name for name, t in INSTANCE_TYPES.items() if "capacity-block" in t.usage_classes}
    assert {"p4de.24xlarge", "p5e.48xlarge", "p5en.48xlarge"} <= sold
    (leave,) = p5.cloud.of_type("aws:autoscaling/schedule:Schedule")
    assert (leave.inputs["desiredCapacity"], leave.inputs["startTime"]) == (
        0,
        "2026-12-07T11:20:00Z",
    )
    assert managed.cluster["authenticationMode"] == "API"
    for made in (p5, managed):
        assert "placement" not in made.template(made.group)

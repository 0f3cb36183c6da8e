"""The launch template: interfaces, market, reservation, disk and metadata of one node."""

import base64
from dataclasses import replace

import pulumi
import pytest

from tests.support.pools import BLOCK, ON_DEMAND, SPOT
from trainyard.components.capacity.plan import CapacityPlan
from trainyard.components.compute.interface_plan import InterfacePlan, NetworkInterface
from trainyard.components.compute.launch_template import NodeLaunchTemplate, NodeLaunchTemplateArgs
from trainyard.components.compute.node_pool_plan import RootVolumePlan, plan_root_volume
from trainyard.components.config.node_pool import RootVolume as RootVolumeConfig

P5 = InterfacePlan(
    (
        NetworkInterface(0, 0, "interface"),
        NetworkInterface(0, 1, "efa-only"),
        *(NetworkInterface(card, 0, "efa-only") for card in range(1, 32)),
    )
)
P5_BLOCK = NodeLaunchTemplateArgs(
    instance_type="p5.48xlarge",
    capacity=BLOCK,
    reservation_group_arn=None,
    market_type="capacity-block",
    interfaces=P5,
    cluster_security_group_id="sg-cluster",
    efa_security_group_id="sg-efa",
    placement_group_name=None,
    root_volume=RootVolumePlan(size_gib=500),
    metadata_hop_limit=2,
    user_data="NodeConfig",
    image_id="ami-1",
    instance_profile_arn="arn:aws:iam::123456789012:instance-profile/p5",
    ssh_key_name=None,
    node_name="p5-cb-p5-Node",
    tags={"team": "vision"},
)


def template(deploy, **changes):
    args = replace(P5_BLOCK, **changes)
    return deploy(lambda: NodeLaunchTemplate("p5-cb-p5-launch", args)).one(
        "p5-cb-p5-launch-template"
    )


def test_a_capacity_block_has_market_reservation_and_instance_type_together(deploy):
    """EKN-11, pain 4: launches into a block require a template with all three."""
    inputs = template(deploy).inputs
    assert inputs["instanceMarketOptions"] == {"marketType": "capacity-block"}
    assert inputs["capacityReservationSpecification"] == {
        "capacityReservationPreference": "capacity-reservations-only",
        "capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"},
    }
    assert inputs["instanceType"] == "p5.48xlarge"
    assert "placement" not in inputs


def test_the_market_of_managed_spot_nodes_is_not_in_their_template(deploy):
    """EKS refuses it: the node group has the capacity type.

    https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
    """
    assert "instanceMarketOptions" not in template(deploy, capacity=SPOT, market_type=None).inputs


def test_the_image_the_profile_and_the_default_version_are_those_of_the_plan(deploy):
    inputs = template(deploy).inputs
    assert inputs["imageId"] == "ami-1"
    assert inputs["iamInstanceProfile"] == {
        "arn": "arn:aws:iam::123456789012:instance-profile/p5",
    }
    assert inputs["updateDefaultVersion"] is True


def test_a_reservation_that_the_stack_creates_is_targeted_by_its_id(deploy):
    capacity = CapacityPlan(
        purchase_option="new", kind="odcr", preference="capacity-reservations-only"
    )
    made = "cr-0fedcba9876543210"
    inputs = template(deploy, capacity=capacity, reservation_id=made, market_type=None).inputs
    assert inputs["capacityReservationSpecification"] == {
        "capacityReservationPreference": "capacity-reservations-only",
        "capacityReservationTarget": {"capacityReservationId": made},
    }


def test_a_reservation_group_is_targeted_by_arn(deploy):
    """PR-07."""
    arn = "arn:aws:resource-groups:us-west-2:123456789012:group/training"
    capacity = CapacityPlan(
        purchase_option="pool",
        kind="odcr-group",
        reservation_group_arn=arn,
        preference="capacity-reservations-only",
    )
    inputs = template(deploy, capacity=capacity, reservation_group_arn=arn, market_type=None).inputs
    assert inputs["capacityReservationSpecification"] == {
        "capacityReservationPreference": "capacity-reservations-only",
        "capacityReservationTarget": {"capacityReservationResourceGroupArn": arn},
    }
    assert "instanceMarketOptions" not in inputs


def test_on_demand_names_neither_market_nor_reservation(deploy):
    inputs = template(deploy, capacity=ON_DEMAND, market_type=None).inputs
    assert not {"instanceMarketOptions", "capacityReservationSpecification"} & inputs.keys()


def test_interfaces_stand_as_planned(deploy):
    """EKN-09 with today's layout: 33 interfaces on a p5, 32 of them EFA."""
    interfaces = template(deploy).inputs["networkInterfaces"]
    found = [(i["networkCardIndex"], i["deviceIndex"], i["interfaceType"]) for i in interfaces]
    assert found[:3] == [(0, 0, "interface"), (0, 1, "efa-only"), (1, 0, "efa-only")]
    assert len(found) == 33


def test_interfaces_with_an_address_carry_the_group_of_the_cluster_and_of_efa(deploy):
    """Without the cluster's group a node cannot reach the API server, and never joins."""
    primary, *efa_only = template(deploy).inputs["networkInterfaces"]
    assert primary["securityGroups"] == ["sg-cluster", "sg-efa"]
    assert all(i["securityGroups"] == ["sg-efa"] for i in efa_only)


def test_no_interface_names_a_subnet_and_each_ends_with_its_instance(deploy):
    """Pain 15: EKS refuses a subnet there; EKN-09: deleted on termination."""
    interfaces = template(deploy).inputs["networkInterfaces"]
    assert all("subnetId" not in i and i["deleteOnTermination"] == "true" for i in interfaces)


def test_without_efa_the_instance_has_the_group_of_the_cluster(deploy):
    inputs = template(deploy, interfaces=None, efa_security_group_id=None).inputs
    assert inputs["vpcSecurityGroupIds"] == ["sg-cluster"]
    assert "networkInterfaces" not in inputs


def test_with_efa_groups_stand_on_the_interfaces_only(deploy):
    assert "vpcSecurityGroupIds" not in template(deploy).inputs


def test_metadata_needs_a_token_and_travels_two_hops(deploy):
    """EKX-04, DF-15: IMDSv2 is required, where the old template made it optional."""
    assert template(deploy).inputs["metadataOptions"] == {
        "httpEndpoint": "enabled",
        "httpTokens": "required",
        "httpPutResponseHopLimit": 2,
    }
    near = template(deploy, metadata_hop_limit=1).inputs["metadataOptions"]
    assert near["httpPutResponseHopLimit"] == 1


def test_the_root_volume_is_gp3_and_encrypted(deploy):
    """EKS-12, EKN-05, DF-15: 500 GiB, gp3 instead of gp2."""
    (mapping,) = template(deploy).inputs["blockDeviceMappings"]
    assert mapping == {
        "deviceName": "/dev/xvda",
        "ebs": {
            "volumeSize": 500,
            "volumeType": "gp3",
            "iops": 3000,
            "throughput": 125,
            "encrypted": "true",
            "deleteOnTermination": "true",
        },
    }


def test_the_root_volume_has_the_performance_of_the_stack_file():
    """`/dev/xvda` is the root device of Amazon Linux.

    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/device_naming.html
    """
    wanted = RootVolumeConfig(size_gib=1000, iops=6000, throughput_mibps=500)
    assert plan_root_volume(wanted) == RootVolumePlan(
        size_gib=1000, iops=6000, throughput_mibps=500, device_name="/dev/xvda"
    )


def test_no_ssh_key_is_asked_for(deploy):
    """DF-15: the old template required one."""
    assert "keyName" not in template(deploy).inputs
    assert template(deploy, ssh_key_name="ops").inputs["keyName"] == "ops"


def test_user_data_is_encoded(deploy):
    assert base64.b64decode(template(deploy).inputs["userData"]) == b"NodeConfig"


def test_without_user_data_there_is_none(deploy):
    assert "userData" not in template(deploy, user_data=None).inputs


def test_without_a_cluster_every_interface_has_the_efa_group_alone(deploy):
    """BAT-08: Batch has no cluster group."""
    interfaces = template(deploy, cluster_security_group_id=None).inputs["networkInterfaces"]
    assert {tuple(interface["securityGroups"]) for interface in interfaces} == {("sg-efa",)}


def test_without_a_cluster_and_interfaces_the_groups_are_for_others_to_name(deploy):
    inputs = template(deploy, cluster_security_group_id=None, interfaces=None).inputs
    assert not {"vpcSecurityGroupIds", "networkInterfaces"} & inputs.keys()


@pytest.mark.parametrize("placed", ["reserved-group"])
def test_a_placement_group_is_named_where_one_is_planned(deploy, placed):
    inputs = template(deploy, placement_group_name=placed).inputs
    assert inputs["placement"] == {"groupName": placed}
    without_efa = template(deploy, placement_group_name=placed, interfaces=None).inputs
    assert without_efa["placement"] == {"groupName": placed}


def test_what_a_launch_creates_is_tagged(deploy):
    """EKN-13: nodes are named `<cluster>-<node group>-Node`."""
    specifications = template(deploy).inputs["tagSpecifications"]
    assert {s["resourceType"] for s in specifications} == {
        "instance",
        "volume",
        "network-interface",
    }
    assert all(s["tags"] == {"Name": "p5-cb-p5-Node", "team": "vision"} for s in specifications)


def test_the_version_is_a_number_and_never_latest(deploy):
    versions = []

    def program():
        NodeLaunchTemplate("p5-cb-p5-launch", P5_BLOCK).version.apply(versions.append)

    deploy(program)
    assert versions == ["1"]


def test_fails_where_efa_interfaces_have_no_efa_group(deploy):
    with pytest.raises(ValueError, match="needs an EFA security group"):
        template(deploy, efa_security_group_id=None)


def test_the_component_is_closed_and_its_children_stay_inside(deploy):
    def program():
        outer = pulumi.ComponentResource("trainyard:test:Outer", "outer")
        NodeLaunchTemplate("p5-cb-p5-launch", P5_BLOCK, pulumi.ResourceOptions(parent=outer))

    cloud = deploy(program)
    component = cloud.one("p5-cb-p5-launch-template").parent
    assert component.endswith("trainyard:compute:NodeLaunchTemplate::p5-cb-p5-launch")
    assert component in cloud.closed

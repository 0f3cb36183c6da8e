"""Managed node groups: their inputs for EKS."""

import base64
from dataclasses import replace

import pulumi_aws as aws
import pytest
import yaml

from tests.support.eks import P5, SYSTEM
from tests.support.pools import BLOCK, SPOT
from trainyard.components.capacity.plan import PlacementPlan
from trainyard.components.eks.node_groups import ManagedNodeGroup


@pytest.fixture
def managed(deploy, node_group_args):
    """Deploy a managed node group and return the registered resources."""

    def run(plan, *launch_after):
        return deploy(
            lambda: ManagedNodeGroup(
                "p5-cb-system", node_group_args(plan, *(after() for after in launch_after))
            )
        )

    return run


def node_group(cloud):
    return cloud.one("p5-cb-system-node-group").inputs


def template(cloud):
    return cloud.one("p5-cb-system-launch-template").inputs


def test_the_system_group_lies_in_the_private_subnets(managed):
    """EKS-06, EKX-09, DF-14: eksctl's `sys` group had public addresses."""
    inputs = node_group(managed(SYSTEM))
    assert inputs["subnetIds"] == ["subnet-private-a", "subnet-private-b"]
    assert inputs["scalingConfig"] == {"minSize": 1, "desiredSize": 1, "maxSize": 2}


def test_versions_are_pinned(managed):
    """EKX-04: AL2023 by release version instead of the newest AL2."""
    inputs = node_group(managed(SYSTEM))
    assert inputs["amiType"] == "AL2023_x86_64_STANDARD"
    assert inputs["releaseVersion"] == "1.35.6-20260714"
    assert inputs["version"] == "1.35"
    assert inputs["launchTemplate"] == {"id": "p5-cb-system-launch-template-id", "version": "1"}


def test_the_instance_type_stands_in_the_template_only(managed):
    """EKS refuses it in both places, and a Capacity Block requires it in the template."""
    cloud = managed(SYSTEM)
    assert template(cloud)["instanceType"] == "c5.2xlarge"
    assert "instanceTypes" not in node_group(cloud)


def test_the_template_leaves_image_and_profile_to_eks(managed):
    assert not {"imageId", "iamInstanceProfile"} & template(managed(SYSTEM)).keys()


def test_a_group_without_efa_has_the_security_group_of_the_cluster(managed):
    assert template(managed(SYSTEM))["vpcSecurityGroupIds"] == ["sg-cluster"]


def test_a_capacity_block_is_named_in_the_template_and_in_the_group(managed):
    """Pain 4: market, reservation and instance type, and EKS's capacity type."""
    cloud = managed(replace(P5, management="managed"))
    assert node_group(cloud)["capacityType"] == "CAPACITY_BLOCK"
    assert template(cloud)["instanceMarketOptions"] == {"marketType": "capacity-block"}
    target = template(cloud)["capacityReservationSpecification"]["capacityReservationTarget"]
    assert target == {"capacityReservationId": BLOCK.reservation_id}
    assert template(cloud)["instanceType"] == "p5.48xlarge"


def test_spot_is_a_capacity_type_and_not_a_market(managed):
    """EKS refuses a template that requests Spot."""
    cloud = managed(replace(SYSTEM, capacity=SPOT))
    assert node_group(cloud)["capacityType"] == "SPOT"
    assert "instanceMarketOptions" not in template(cloud)


def test_labels_and_taints_are_given_to_eks(managed):
    cloud = managed(replace(P5, management="managed"))
    assert node_group(cloud)["labels"] == {"node.trainyard/workload": "training"}
    assert node_group(cloud)["taints"] == [
        {"key": "nvidia.com/gpu", "value": "true", "effect": "NO_SCHEDULE"}
    ]


def test_user_data_says_what_eks_does_not(managed):
    """EKS adds the cluster, labels and taints to the user data."""
    user_data = base64.b64decode(template(managed(replace(P5, management="managed")))["userData"])
    document = yaml.safe_load(user_data.decode().split("---\n")[1].split("--trainyard")[0])
    assert document["spec"] == {
        "kubelet": {"config": {"maxPods": 50}},
        "instance": {"localStorage": {"strategy": "RAID0"}},
    }


def test_a_placement_group_is_made_where_planned(managed):
    created = PlacementPlan(group="create", reason="on demand with EFA in one zone")
    cloud = managed(replace(SYSTEM, placement=created))
    assert cloud.one("p5-cb-system-placement-group").inputs["strategy"] == "cluster"
    assert template(cloud)["placement"] == {"groupName": "p5-cb-system-placement-group"}


def test_a_placement_group_that_exists_is_named(managed):
    existing = PlacementPlan(group="existing", name="reserved", reason="made in it")
    cloud = managed(replace(SYSTEM, placement=existing))
    assert template(cloud)["placement"] == {"groupName": "reserved"}
    assert not cloud.of_type("aws:ec2/placementGroup:PlacementGroup")


def test_nodes_wait_for_what_they_need(managed):
    def network():
        return aws.ec2.SecurityGroup("needed-first")

    cloud = managed(SYSTEM, network)
    needed = cloud.one("needed-first").urn
    assert needed in cloud.one("p5-cb-system-node-group").dependencies


def test_the_group_is_tagged_and_the_component_closed(managed):
    cloud = managed(SYSTEM)
    made = cloud.one("p5-cb-system-node-group")
    assert made.inputs["tags"] == {"Name": "p5-cb-system-Node", "team": "vision"}
    assert made.parent.endswith("trainyard:eks:ManagedNodeGroup::p5-cb-system")
    assert made.parent in cloud.closed


def test_in_a_reservation_the_old_group_goes_before_its_successor_comes(managed):
    """G11, EKN-14: a full reservation has no capacity for new nodes until old ones terminate."""
    assert managed(replace(SYSTEM, capacity=BLOCK)).one("p5-cb-system-node-group").deletes_first
    assert not managed(SYSTEM).one("p5-cb-system-node-group").deletes_first

"""A compute environment: updates in place, and the configuration of its nodes."""

import base64
from dataclasses import replace

import pulumi
import pytest

from tests.support.batch import ODCR, compute_environment, efa_environment
from tests.support.pools import BLOCK, MANAGED_PLACEMENT, ODCR_GROUP, SPOT
from tests.support.stack_files import AMI
from trainyard.components.batch.compute_environment import (
    BatchComputeEnvironment,
    BatchComputeEnvironmentArgs,
)
from trainyard.components.batch.compute_environment_plan import render_user_data

GROUP_ARN = "arn:aws:resource-groups:us-west-2:123456789012:group/reservations"


@pytest.fixture
def deployed(deploy):
    """Deploy the compute environment of a plan."""

    def run(plan=None, **changes):
        args = BatchComputeEnvironmentArgs(
            plan=plan or compute_environment(),
            region="us-west-2",
            subnet_ids=["subnet-1"],
            security_group_id="sg-nodes",
            reservation_group_arn=None,
            launch_after=[],
            tags={"team": "vision"},
        )

        def program():
            made = BatchComputeEnvironment("batch-nodes", replace(args, **changes))
            pulumi.export("queue", made.queue_arn)

        return deploy(program)

    return run


def environment(cloud):
    return cloud.one("batch-nodes-environment").inputs


def template(cloud):
    return cloud.one("batch-nodes-launch-template").inputs


def test_batch_updates_it_in_place(deployed):
    """BAT-11, BAT-15, BAT5-06, DF-12, pain 9: requirements of an infrastructure update in place."""
    cloud = deployed()
    made = environment(cloud)
    assert "serviceRole" not in made
    resources = made["computeResources"]
    assert resources["allocationStrategy"] == "BEST_FIT_PROGRESSIVE"
    assert resources["launchTemplate"] == {
        "launchTemplateId": "batch-nodes-launch-template-id",
        "version": "1",
    }
    assert made["updatePolicy"] == {
        "terminateJobsOnUpdate": False,
        "jobExecutionTimeoutMinutes": 360,
    }
    # Batch adjusts it to the jobs.
    assert "desiredVcpus" not in resources


def test_a_replacement_can_stand_beside_what_it_replaces(deployed):
    """Pain 9: a fixed name would require deletion first, which the queue prevents."""
    cloud = deployed()
    made = environment(cloud)
    assert made["namePrefix"] == "batch-nodes-"
    assert "name" not in made


def test_the_queue_turns_to_a_replacement_before_the_old_one_goes(deployed):
    """Pain 9: the queue depends on the environment by its ARN, so it is updated in between."""
    cloud = deployed()
    queue = cloud.one("batch-nodes-queue")
    assert cloud.one("batch-nodes-environment").urn in queue.dependencies
    (order,) = queue.inputs["computeEnvironmentOrders"]
    assert order["computeEnvironment"].endswith(":compute-environment/batch-nodes-20261121")
    assert order["order"] == 1


def test_the_queue_keeps_its_name(deployed):
    """BAT-19, BAT-23: users and programs submit jobs to it."""
    cloud = deployed(compute_environment(queue_priority=7))
    queue = cloud.one("batch-nodes-queue").inputs
    assert (queue["name"], queue["priority"], queue["state"]) == ("batch-nodes", 7, "ENABLED")
    assert cloud.exports["queue"].endswith(":job-queue/batch-nodes")


def test_sizes_types_and_subnets_are_those_of_the_plan(deployed):
    """BAT-15."""
    cloud = deployed(compute_environment(minimum_vcpus=32, maximum_vcpus=128))
    resources = environment(cloud)["computeResources"]
    assert (resources["minVcpus"], resources["maxVcpus"]) == (32, 128)
    assert resources["instanceTypes"] == ["g4dn.8xlarge"]
    assert resources["subnets"] == ["subnet-1"]
    assert resources["type"] == "EC2"
    assert resources["instanceRole"].endswith("instance-profile/batch-nodes-instance-profile")


def test_with_efa_the_groups_stand_in_the_template_alone(deployed):
    """BAT-08: Batch refuses security groups in both places."""
    cloud = deployed(efa_environment("p4d", "p4d.24xlarge", capacity=ODCR))
    interfaces = template(cloud)["networkInterfaces"]
    assert sum(i["interfaceType"] != "interface" for i in interfaces) == 4
    assert all(i["securityGroups"] == ["sg-nodes"] for i in interfaces)
    assert "securityGroupIds" not in environment(cloud)["computeResources"]


def test_without_efa_the_groups_stand_in_the_environment_alone(deployed):
    cloud = deployed()
    assert environment(cloud)["computeResources"]["securityGroupIds"] == ["sg-nodes"]
    assert not {"networkInterfaces", "vpcSecurityGroupIds"} & template(cloud).keys()


def test_p5_has_all_its_efa_interfaces(deployed):
    """BAT5-03."""
    interfaces = template(deployed(efa_environment("p5", "p5.48xlarge", capacity=BLOCK)))[
        "networkInterfaces"
    ]
    assert sum(i["interfaceType"] != "interface" for i in interfaces) == 32


def test_a_capacity_block_has_market_and_reservation(deployed):
    """BAT5-02, BAT5-04: without a placement group, because the block determines the placement."""
    cloud = deployed(efa_environment("p5", "p5.48xlarge", capacity=BLOCK))
    made = template(cloud)
    assert made["instanceMarketOptions"] == {"marketType": "capacity-block"}
    specification = made["capacityReservationSpecification"]
    assert specification["capacityReservationTarget"] == {
        "capacityReservationId": BLOCK.reservation_id
    }
    assert specification["capacityReservationPreference"] == "capacity-reservations-only"
    assert "placement" not in made


def test_a_reservation_group_is_targeted_by_arn(deployed):
    """BAT-04, BAT-07."""
    plan = efa_environment("p4d", "p4d.24xlarge", capacity=ODCR_GROUP)
    target = template(deployed(plan, reservation_group_arn=GROUP_ARN))[
        "capacityReservationSpecification"
    ]["capacityReservationTarget"]
    assert target == {"capacityReservationResourceGroupArn": GROUP_ARN}


def test_on_demand_targets_nothing(deployed):
    """BAT-07: the template left an empty target."""
    assert "capacityReservationSpecification" not in template(deployed())


def test_spot_is_for_batch_to_buy(deployed):
    """Batch ignores the market of a template if it is Spot."""
    plan = compute_environment(capacity=SPOT, allocation_strategy="SPOT_PRICE_CAPACITY_OPTIMIZED")
    cloud = deployed(plan)
    resources = environment(cloud)["computeResources"]
    assert (resources["type"], resources["allocationStrategy"]) == (
        "SPOT",
        "SPOT_PRICE_CAPACITY_OPTIMIZED",
    )
    assert "instanceMarketOptions" not in template(cloud)


def test_a_placement_group_is_made_where_it_is_planned(deployed):
    """BAT-10, BAT-16, DF-10: the switch of the template was inverted."""
    cloud = deployed(efa_environment("p4d", "p4d.24xlarge", placement=MANAGED_PLACEMENT))
    assert cloud.one("batch-nodes-placement-group").inputs["strategy"] == "cluster"
    assert template(cloud)["placement"] == {"groupName": "batch-nodes-placement-group"}
    assert not deployed().of_type("aws:ec2/placementGroup:PlacementGroup")


def test_batch_chooses_the_image_by_its_type(deployed):
    """BAT-18, pain 10: never the path of a parameter."""
    (image,) = environment(deployed())["computeResources"]["ec2Configurations"]
    assert image == {"imageType": "ECS_AL2023_NVIDIA"}


@pytest.mark.parametrize(
    ("type_name", "image_type"),
    [("p4d.24xlarge", "ECS_AL2023_NVIDIA"), ("trn1.32xlarge", "ECS_AL2023")],
)
def test_an_image_of_ones_own_stands_for_one_of_batch(deployed, type_name, image_type):
    """BAT-02, BAT-18."""
    plan = efa_environment("own", type_name, image_type=None, custom_ami_id=AMI)
    cloud = deployed(plan)
    (image,) = environment(cloud)["computeResources"]["ec2Configurations"]
    assert image == {"imageType": image_type, "imageIdOverride": AMI}
    assert "imageId" not in template(cloud)


def test_a_key_pair_is_optional(deployed):
    """BAT-05, BAT-17, DF-10."""
    assert "keyName" not in template(deployed())
    plan = compute_environment(ssh_key_name="ops")
    assert template(deployed(plan))["keyName"] == "ops"


def test_nodes_are_hardened(deployed):
    """DF-12: IMDSv2, not reachable from the bridge, and an encrypted root volume."""
    made = template(deployed())
    assert made["metadataOptions"]["httpTokens"] == "required"
    assert made["metadataOptions"]["httpPutResponseHopLimit"] == 1
    assert made["blockDeviceMappings"][0]["ebs"]["encrypted"] == "true"


def test_nodes_start_with_the_user_data_of_their_disks(deployed):
    """BAT-09, DF-10."""
    for local_nvme in ("raid0", "none"):
        made = template(deployed(compute_environment(local_nvme=local_nvme)))
        assert base64.b64decode(made["userData"]).decode() == render_user_data(local_nvme)


def test_everything_is_tagged_and_stays_inside(deployed):
    """BAT-14: the instances too, by their template."""
    cloud = deployed(efa_environment("p4d", "p4d.24xlarge", placement=MANAGED_PLACEMENT))
    tagged = [made for made in cloud.registered if "tags" in made.inputs]
    assert len(tagged) > 4
    assert all(made.inputs["tags"]["team"] == "vision" for made in tagged)
    assert {made.urn for made in cloud.components()} <= set(cloud.closed)

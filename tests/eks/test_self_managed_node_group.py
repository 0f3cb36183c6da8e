"""Self-managed node groups: the life of the Auto Scaling group of a Capacity Block."""

import base64
from dataclasses import replace

import pulumi_aws as aws
import pytest
import yaml

from tests.support.eks import ACTIVE, AMI_PARAMETER, ENDING, EXPIRED, P5, SCHEDULED
from tests.support.pools import SPOT
from trainyard.components.eks.node_groups import SelfManagedNodeGroup

SCHEDULE = "aws:autoscaling/schedule:Schedule"


@pytest.fixture
def p5(deploy, node_group_args):
    """Deploy the p5 node group with a changed plan."""

    def run(*launch_after, **changes):
        plan = replace(P5, **changes)
        return deploy(
            lambda: SelfManagedNodeGroup(
                "p5-cb-p5", node_group_args(plan, *(after() for after in launch_after))
            )
        )

    return run


def group(cloud):
    return cloud.one("p5-cb-p5-nodes")


def template(cloud):
    return cloud.one("p5-cb-p5-launch-template").inputs


def actions(cloud):
    return {
        action.inputs["scheduledActionName"]: (
            action.inputs["startTime"],
            action.inputs["minSize"],
            action.inputs["desiredCapacity"],
            action.inputs["maxSize"],
        )
        for action in cloud.of_type(SCHEDULE)
    }


def test_sizes_are_those_of_the_plan(p5):
    """EKN-02, EKS-10."""
    inputs = group(p5()).inputs
    assert (inputs["minSize"], inputs["desiredCapacity"], inputs["maxSize"]) == (0, 2, 2)
    assert inputs["waitForCapacityTimeout"] == "20m"
    assert inputs["healthCheckType"] == "EC2"


def test_nodes_launch_in_the_subnet_of_the_block(p5):
    """EKS-13, DF-13: the zone of the reservation, and no other."""
    assert group(p5()).inputs["vpcZoneIdentifiers"] == ["subnet-private-b"]


def test_the_template_is_pinned_by_number(p5):
    """EKN-13: the old template used the latest version."""
    assert group(p5()).inputs["launchTemplate"] == {
        "id": "p5-cb-p5-launch-template-id",
        "version": "1",
    }


def test_the_image_is_read_from_a_versioned_parameter(p5):
    """EKN-04: instead of `recommended`, which changes under a running stack."""
    cloud = p5()
    assert ("aws:ssm/getParameter:getParameter", {"name": AMI_PARAMETER}) in cloud.invoked
    assert template(cloud)["imageId"] == "ami-0123456789abcdef0"


def test_nodes_have_the_name_and_the_tag_of_their_cluster(p5):
    """EKN-13."""
    tags = {
        tag["key"]: (tag["value"], tag["propagateAtLaunch"]) for tag in group(p5()).inputs["tags"]
    }
    assert tags == {
        "Name": ("p5-cb-p5-Node", True),
        "kubernetes.io/cluster/p5-cb": ("owned", True),
        "team": ("vision", True),
    }


def test_nodes_bring_the_profile_of_their_role(p5):
    """EKN-06."""
    cloud = p5()
    assert cloud.one("p5-cb-p5-instance-profile").inputs["role"] == "role-role"
    assert template(cloud)["iamInstanceProfile"]["arn"].endswith("p5-cb-p5-instance-profile")


def test_user_data_joins_the_cluster_with_labels_and_taints(p5):
    """EKN-12: nodeadm instead of bootstrap.sh, and no download of an EFA installer."""
    text = base64.b64decode(template(p5())["userData"]).decode()
    document = yaml.safe_load(text.split("---\n")[1].split("--trainyard")[0])
    assert document["spec"]["cluster"] == {
        "name": "p5-cb",
        "apiServerEndpoint": "https://example.eks.amazonaws.com",
        "certificateAuthority": "Q0E=",
        "cidr": "172.20.0.0/16",
    }
    assert document["spec"]["kubelet"]["flags"] == [
        "--node-labels=node.trainyard/workload=training",
        "--register-with-taints=nvidia.com/gpu=true:NoSchedule",
    ]
    assert document["spec"]["kubelet"]["config"] == {"maxPods": 50}


def test_nothing_is_installed_at_boot(p5):
    """DF-15, EKN-12: the AMI has the EFA driver."""
    assert "efa_installer" not in base64.b64decode(template(p5())["userData"]).decode()


def test_a_block_with_known_times_fills_and_empties_the_group_by_itself(p5):
    """EKN-16, pain 4: scale up at the start, and down 40 minutes before the end."""
    cloud = p5(schedule=SCHEDULED)
    assert actions(cloud) == {
        "capacity-block-start": ("2026-12-01T11:30:00Z", 1, 2, 2),
        "capacity-block-end": ("2026-12-08T10:50:00Z", 0, 0, 2),
    }
    assert cloud.of_type(SCHEDULE)[0].inputs["autoscalingGroupName"] == "p5-cb-p5-nodes"


def test_before_the_start_nothing_is_wanted_and_nobody_waits(p5):
    inputs = group(p5(schedule=SCHEDULED)).inputs
    assert (inputs["minSize"], inputs["desiredCapacity"], inputs["maxSize"]) == (0, 0, 2)
    assert inputs["waitForCapacityTimeout"] == "0"


def test_until_the_start_the_sizes_are_the_schedules(p5):
    """An update that is running at the start must not empty the group again."""
    assert set(group(p5(schedule=SCHEDULED)).ignore_changes) == {
        "minSize",
        "desiredCapacity",
        "maxSize",
    }


def test_in_an_active_block_a_new_size_in_the_stack_file_takes_effect(p5):
    cloud = p5(schedule=ACTIVE)
    assert group(cloud).ignore_changes == ()
    assert group(cloud).inputs["desiredCapacity"] == 2
    assert actions(cloud).keys() == {"capacity-block-end"}


@pytest.mark.parametrize("schedule", [ENDING, EXPIRED], ids=lambda plan: plan.state)
def test_at_the_end_the_group_is_empty_and_nothing_is_scheduled(p5, schedule):
    cloud = p5(schedule=schedule)
    inputs = group(cloud).inputs
    assert (inputs["minSize"], inputs["desiredCapacity"]) == (0, 0)
    assert inputs["waitForCapacityTimeout"] == "0"
    assert actions(cloud) == {}


def test_without_known_times_nothing_is_scheduled(p5):
    cloud = p5()
    assert actions(cloud) == {}
    assert group(cloud).ignore_changes == ()


def test_running_nodes_are_never_replaced_under_a_job(p5):
    """EKN-14: the old rolling update would terminate a job's nodes one by one."""
    assert "instanceRefresh" not in group(p5()).inputs


def test_nodes_wait_for_what_they_need(p5):
    """Pain 12: the authorization of the role comes before the Auto Scaling group."""
    cloud = p5(lambda: aws.eks.AccessEntry("entry", cluster_name="c", principal_arn="arn"))
    assert cloud.one("entry").urn in group(cloud).dependencies


def test_no_reservation_is_made_or_owned(p5):
    types = {resource.type for resource in p5(schedule=SCHEDULED).registered}
    assert not [t for t in types if "capacityReservation" in t or "capacityBlock" in t]


def test_components_are_closed_and_children_stay_inside(p5):
    cloud = p5(schedule=SCHEDULED)
    component = group(cloud).parent
    assert component.endswith("trainyard:eks:SelfManagedNodeGroup::p5-cb-p5")
    assert {made.urn for made in cloud.components()} == set(cloud.closed) & {
        made.urn for made in cloud.components()
    }


def test_in_a_reservation_the_old_group_goes_before_its_successor_comes(p5):
    """G11, EKN-14: a full reservation has no capacity for new nodes until old ones terminate."""
    assert group(p5()).deletes_first
    assert not group(p5(capacity=SPOT)).deletes_first

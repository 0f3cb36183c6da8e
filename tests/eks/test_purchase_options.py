"""Purchase options in the template and in the group, for managed and self-managed groups."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.support.eks import P5, SCHEDULED
from tests.support.pools import BLOCK, ON_DEMAND, SPOT
from trainyard.components.capacity.plan import ONE_BY_ONE, CapacityPlan, UpdatePlan
from trainyard.components.eks.node_groups import ManagedNodeGroup, SelfManagedNodeGroup

GROUP_ARN = "arn:aws:resource-groups:us-west-2:123456789012:group/training"
MADE_ARN = "arn:aws:resource-groups:us-west-2:123456789012:group/reservations-dev-pool"
ID = "cr-0123456789abcdef0"
ONLY = "capacity-reservations-only"
ODCR = CapacityPlan(purchase_option="odcr", kind="odcr", reservation_id=ID, preference=ONLY)
GROUP = CapacityPlan(
    purchase_option="pool", kind="odcr-group", reservation_group_arn=GROUP_ARN, preference=ONLY
)
MEMBERS = CapacityPlan(
    purchase_option="pool", kind="odcr-group", reservation_group_members=(ID,), preference=ONLY
)
BY_ID = {"capacityReservationId": ID}

CASES = [
    # capacity, group created by the stack, target in the template, its market, managed type, and
    # the market of a self-managed template
    pytest.param(ON_DEMAND, None, None, None, "ON_DEMAND", None, id="on-demand"),
    pytest.param(SPOT, None, None, None, "SPOT", "spot", id="spot"),
    pytest.param(ODCR, None, BY_ID, None, "ON_DEMAND", None, id="odcr"),
    pytest.param(
        GROUP,
        None,
        {"capacityReservationResourceGroupArn": GROUP_ARN},
        None,
        "ON_DEMAND",
        None,
        id="odcr-group",
    ),
    pytest.param(
        MEMBERS,
        MADE_ARN,
        {"capacityReservationResourceGroupArn": MADE_ARN},
        None,
        "ON_DEMAND",
        None,
        id="odcr-group-of-members",
    ),
    pytest.param(
        BLOCK, None, BY_ID, "capacity-block", "CAPACITY_BLOCK", "capacity-block", id="block"
    ),
]


@pytest.fixture
def make(deploy, node_group_args):
    """Deploy a node group of a purchase option and return the registered resources."""

    def run(component, capacity, made=None, **changes):
        plan = replace(P5, capacity=capacity, **changes)

        def program():
            component("dev-p5", replace(node_group_args(plan), reservation_group_arn=made))

        return deploy(program)

    return run


def template(cloud):
    return cloud.one("dev-p5-launch-template").inputs


@pytest.mark.parametrize(("capacity", "made", "target", "market", "kind", "own_market"), CASES)
@pytest.mark.parametrize("component", [ManagedNodeGroup, SelfManagedNodeGroup])
def test_reservation_market_and_type_stand_where_aws_wants_them(
    make, component, capacity, made, target, market, kind, own_market
):
    """EKN-11, EKS-14, PR-07, D2, D3."""
    cloud = make(component, capacity, made)
    found = template(cloud)
    managed = component is ManagedNodeGroup
    expected_market = market if managed else own_market
    assert found.get("instanceMarketOptions", {}).get("marketType") == expected_market
    assert found["instanceType"] == "p5.48xlarge"
    assert not any("subnetId" in interface for interface in found["networkInterfaces"])
    specification = found.get("capacityReservationSpecification")
    assert (specification or {}).get("capacityReservationTarget") == target
    if target is not None:
        assert specification["capacityReservationPreference"] == ONLY
    if managed:
        group = cloud.one("dev-p5-node-group").inputs
        assert group["capacityType"] == kind
        assert "instanceTypes" not in group


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        pytest.param(
            ONE_BY_ONE, {"updateStrategy": "DEFAULT", "maxUnavailable": 1}, id="with-room"
        ),
        pytest.param(
            UpdatePlan(strategy="MINIMAL", maximum_unavailable_percentage=100),
            {"updateStrategy": "MINIMAL", "maxUnavailablePercentage": 100},
            id="full",
        ),
    ],
)
def test_the_update_strategy_is_that_of_the_plan(make, update, expected):
    """G11."""
    cloud = make(ManagedNodeGroup, ODCR, update=update)
    assert cloud.one("dev-p5-node-group").inputs["updateConfig"] == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"auto_repair": False, "maximum_parallel_repairs": 3}, {"enabled": False}),
        ({"auto_repair": True}, {"enabled": True, "maxParallelNodesRepairedCount": 1}),
        (
            {"auto_repair": True, "maximum_parallel_repairs": 3},
            {"enabled": True, "maxParallelNodesRepairedCount": 3},
        ),
    ],
)
def test_repair_is_said_either_way(make, changes, expected):
    """G7. If omitted, EKS would keep the value of a former stack file."""
    config = P5.config.model_copy(update=changes)
    cloud = make(ManagedNodeGroup, ON_DEMAND, config=config)
    assert cloud.one("dev-p5-node-group").inputs["nodeRepairConfig"] == expected


def test_a_managed_group_of_a_block_that_has_not_begun_is_filled_at_its_start(make):
    """D8: EKS documents a scheduled action on its Auto Scaling group for this."""
    schedule = replace(SCHEDULED, scale_up_minimum=0, scale_down_at=None)
    cloud = make(ManagedNodeGroup, BLOCK, schedule=schedule)
    group = cloud.one("dev-p5-node-group")
    assert group.inputs["scalingConfig"] == {"minSize": 0, "desiredSize": 0, "maxSize": 2}
    assert group.ignore_changes == ("scalingConfig",)
    (action,) = cloud.of_type("aws:autoscaling/schedule:Schedule")
    assert action.inputs["autoscalingGroupName"] == "eks-dev-p5-node-group"
    sizes = [action.inputs[key] for key in ("minSize", "desiredCapacity", "maxSize")]
    assert sizes == [0, 2, 2]
    assert action.inputs["startTime"] == "2026-12-01T11:30:00Z"


def test_a_managed_group_of_an_active_block_is_emptied_by_eks_alone(make):
    """D9."""
    cloud = make(ManagedNodeGroup, BLOCK)
    assert cloud.one("dev-p5-node-group").ignore_changes == ()
    assert not cloud.of_type("aws:autoscaling/schedule:Schedule")


def test_a_managed_group_of_an_ultraserver_is_emptied_by_a_schedule(make):
    """D9: EKS would do it 20 minutes after EC2 has begun to terminate the instances."""
    down = datetime(2026, 12, 8, 10, 20, tzinfo=UTC)
    schedule = replace(SCHEDULED, state="active", scale_up_at=None, scale_down_at=down)
    cloud = make(ManagedNodeGroup, BLOCK, schedule=schedule)
    (action,) = cloud.of_type("aws:autoscaling/schedule:Schedule")
    assert action.inputs["autoscalingGroupName"] == "eks-dev-p5-node-group"
    assert action.inputs["startTime"] == "2026-12-08T10:20:00Z"
    assert [action.inputs[key] for key in ("minSize", "desiredCapacity")] == [0, 0]


@pytest.mark.parametrize("component", [ManagedNodeGroup, SelfManagedNodeGroup])
def test_an_ssh_key_stands_in_the_template(make, component):
    """EKS refuses remote access together with a template; DF-15: no key is needed."""
    assert template(make(component, ON_DEMAND, ssh_key_name="training"))["keyName"] == "training"
    assert "keyName" not in template(make(component, ON_DEMAND))


@pytest.mark.parametrize("allowed", [True, False])
def test_own_groups_are_tagged_for_an_autoscaler_that_may_change_them(make, allowed):
    """EKS-15; EKS itself tags the Auto Scaling groups of managed node groups."""
    policies = ("autoscaler",) if allowed else ("ebs",)
    cloud = make(SelfManagedNodeGroup, ON_DEMAND, addon_policies=policies)
    tags = {tag["key"]: tag["value"] for tag in cloud.one("dev-p5-nodes").inputs["tags"]}
    wanted = {
        "k8s.io/cluster-autoscaler/enabled": "true",
        "k8s.io/cluster-autoscaler/p5-cb": "owned",
    }
    assert (wanted.items() <= tags.items()) == allowed

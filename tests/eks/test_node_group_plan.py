import pytest

from tests.support.eks import (
    PRIVATE,
    changed,
    group,
    group_before_review,
    p5,
    with_odcr,
)
from tests.support.kubernetes import DEFAULT
from trainyard.components.compute.node_pool_plan import RootVolumePlan


def test_a_p5_group_in_a_capacity_block():
    """EKN-02, EKN-03, EKN-05, EKS-11 to EKS-14."""
    plan = group(p5())
    assert plan.instance_type.name == "p5.48xlarge"
    assert plan.interfaces.efa_interfaces == 32
    assert plan.capacity.market_type == "capacity-block"
    assert plan.placement.group == "none"
    assert (plan.schedule.minimum, plan.schedule.desired, plan.schedule.maximum) == (0, 2, 2)
    assert plan.root_volume == RootVolumePlan(size_gib=500)
    assert plan.maximum_pods == 51


def test_the_ami_is_pinned_twice_over():
    """EKN-04: a release for managed groups, a versioned parameter for self-managed ones."""
    plan = group(p5())
    release = plan.ami_release_version
    assert release.startswith(f"{DEFAULT}.")
    assert plan.ami_ssm_parameter.endswith(
        f"/nvidia/amazon-eks-node-al2023-x86_64-nvidia-{DEFAULT}-v{release.partition('-')[2]}/image_id"
    )
    assert "recommended" not in plan.ami_ssm_parameter


@pytest.mark.parametrize(
    ("instance_type", "ami_type"),
    [
        pytest.param("p5.48xlarge", "AL2023_x86_64_NVIDIA", id="gpus"),
        pytest.param("trn1.32xlarge", "AL2023_x86_64_NEURON", id="trainium"),
        pytest.param("m5.large", "AL2023_x86_64_STANDARD", id="neither"),
    ],
)
def test_the_ami_has_the_drivers_of_the_type(instance_type, ami_type):
    """E6."""
    raw = p5(instance_type=instance_type, efa_enabled=False, purchase_option="on-demand")
    assert group_before_review(raw).ami_type == ami_type


def test_a_group_has_no_taints_and_labels_of_its_own():
    """EKS-16."""
    plan = group(p5())
    assert (plan.taints, plan.labels) == ((), {})


def test_a_subnet_that_is_named_is_the_only_one():
    """EKS-13."""
    assert group(p5(subnet_id=PRIVATE[1])).subnets == (PRIVATE[1],)


def test_without_efa_no_interfaces_are_named():
    plan = group(p5(efa_enabled=False))
    assert (plan.interfaces, plan.maximum_pods) == (None, None)


def test_local_disks_are_only_joined_where_there_are_any():
    raw = p5(instance_type="m5.large", efa_enabled=False, purchase_option="on-demand")
    assert group(raw).local_nvme == "none"
    assert group(p5()).local_nvme == "raid0"


def test_a_zone_of_the_group_is_the_zone_of_its_capacity():
    raw = p5(purchase_option="on-demand", availability_zone="us-west-2c")
    assert group(raw).capacity.availability_zone == "us-west-2c"


def test_a_managed_group_is_filled_at_the_start_of_its_block():
    raw = p5(management="managed")
    raw["reservations"]["block"]["starts_at"] = "2027-01-01T11:30:00Z"
    plan = group(raw)
    assert (plan.schedule.desired, plan.schedule.scale_up_desired) == (0, 2)
    assert plan.schedule.scale_down_at is None


def test_node_groups_of_one_reservation_are_counted_together_for_updates():
    """G11: two groups that each leave free capacity may fill it together."""
    alone = with_odcr({"instance_count": 4})
    assert group(alone).update.strategy == "DEFAULT"
    both = with_odcr({"instance_count": 4})
    groups = both["architecture"]["node_groups"]
    groups["other"] = groups["p5"] | {"minimum": 0, "desired": 1, "maximum": 1}
    assert group(both).update.strategy == "MINIMAL"


def test_options_of_the_stack_file_are_planned():
    """EKS-15, EKS-16."""
    raw = p5(management="managed", addon_policies=["ebs", "fsx"], auto_repair=True)
    raw["architecture"]["addons"] = {"node_monitoring_agent": True}
    plan = group(raw)
    assert plan.addon_policies == ("ebs", "fsx")
    assert plan.config.auto_repair


def test_an_odcr_made_in_a_placement_group_brings_it():
    plan = group(with_odcr({"placement_group": "training"}))
    assert (plan.placement.group, plan.placement.name) == ("existing", "training")


def test_the_system_group_is_managed_private_and_on_demand():
    """EKS-06, EKX-09, DF-13, DF-14."""
    plan = group(p5(), "system")
    assert (plan.management, plan.capacity.kind) == ("managed", "on-demand")
    assert plan.subnets == tuple(PRIVATE)
    assert plan.instance_type.name == "c5.2xlarge"
    assert (plan.schedule.minimum, plan.schedule.desired, plan.schedule.maximum) == (1, 1, 2)
    assert plan.addon_policies == ("autoscaler",)
    assert plan.iam_policies == ()


@pytest.mark.parametrize("name", ["p5", "system"])
@pytest.mark.parametrize(
    ("changes", "hops"),
    [
        pytest.param({}, 1, id="nothing"),
        pytest.param({"addon_policies": ["autoscaler"]}, 2, id="pods-that-scale-groups"),
        pytest.param({"addon_policies": ["ebs"]}, 2, id="a-driver-of-the-user"),
        pytest.param({"iam_policies": ["AmazonS3ReadOnlyAccess"]}, 2, id="pods-that-read-s3"),
        pytest.param({"metadata_hop_limit": 2}, 2, id="pods-that-ask-for-their-region"),
        pytest.param({"addon_policies": ["ebs"], "metadata_hop_limit": 1}, 1, id="host-network"),
    ],
)
def test_pods_reach_the_metadata_of_their_node_only_if_they_use_its_role(name, changes, hops):
    """E15, EKX-04. With one hop, only the host network reaches it:
    https://docs.aws.amazon.com/eks/latest/best-practices/identity-and-access-management.html."""
    raw = p5()
    groups = raw["architecture"]
    groups["system_node_group"] = {"addon_policies": []}
    (groups["system_node_group"] if name == "system" else groups["node_groups"]["p5"]).update(
        changes
    )
    assert group(raw, name).metadata_hop_limit == hops


@pytest.mark.parametrize(
    "changes",
    [
        {"architecture__addons": {"cloudwatch_observability": True}},
        {"monitoring": {"node_metrics": "cloudwatch"}},
    ],
)
def test_the_cloudwatch_agent_reaches_the_metadata_of_every_node(changes):
    """It sends no metrics without: https://github.com/aws/amazon-cloudwatch-agent/issues/249."""
    raw = changed(architecture__system_node_group={"addon_policies": []}, **changes)
    assert [group(raw, name).metadata_hop_limit for name in ("p5", "system")] == [2, 2]


@pytest.mark.parametrize("addon", ["ebs_csi_driver", "fsx_csi_driver", "node_monitoring_agent"])
def test_no_other_addon_needs_the_metadata_for_its_pods(addon):
    raw = changed(
        architecture__system_node_group={"addon_policies": []}, architecture__addons={addon: True}
    )
    assert [group(raw, name).metadata_hop_limit for name in ("p5", "system")] == [1, 1]


def test_the_system_group_can_be_changed():
    raw = changed(architecture__system_node_group={"instance_type": "m5.large", "maximum": 4})
    plan = group(raw, "system")
    assert (plan.instance_type.name, plan.schedule.maximum) == ("m5.large", 4)

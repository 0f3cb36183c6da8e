"""Queues and compute resources of the cluster file."""

from dataclasses import replace

import pytest

from tests.support import stack_files
from tests.support.parallelcluster import NAMED_PLACEMENT, ODCR, compute_resource, queue
from tests.support.pools import (
    BLOCK,
    CREATION,
    MANAGED_PLACEMENT,
    NO_PLACEMENT,
    ODCR_GROUP,
    ON_DEMAND,
    SPOT,
)
from tests.support.stack_files import PRIVATE_A, PRIVATE_B
from trainyard.components.catalog.instance_types import instance_type
from trainyard.components.config.node_pool import RootVolume
from trainyard.components.config.parallelcluster import S3Access
from trainyard.components.parallelcluster.node_scripts import NodeAccess, ScriptPlan
from trainyard.components.parallelcluster.references import Reference
from trainyard.components.parallelcluster.rendering import (
    placement_group,
    render_queue,
    reservation_target,
)

GROUP_ARN = "arn:aws:resource-groups:us-west-2:123456789012:group/p4de"


def one(*resources, **changes):
    """Return a queue in one subnet."""
    return render_queue(queue("compute", *resources, **{"subnets": (PRIVATE_B,), **changes}))


@pytest.mark.parametrize(
    ("capacity", "expected"),
    [(ON_DEMAND, "ONDEMAND"), (ODCR, "ONDEMAND"), (SPOT, "SPOT"), (BLOCK, "CAPACITY_BLOCK")],
)
def test_capacity_type_follows_from_the_market(capacity, expected):
    """PC-11: an On-Demand reservation is ONDEMAND, a Capacity Block is not."""
    assert one(capacity=capacity)["CapacityType"] == expected


@pytest.mark.parametrize(
    ("placement", "expected"),
    [
        (NO_PLACEMENT, {"Enabled": False}),
        (MANAGED_PLACEMENT, {"Enabled": True}),
        (NAMED_PLACEMENT, {"Enabled": True, "Name": "training-group"}),
    ],
)
def test_the_placement_group_is_always_said(placement, expected):
    """PCx-04, TRN-04, TRN-26, PR-09: with EFA, ParallelCluster requires an explicit setting."""
    assert placement_group(placement) == expected
    assert one(compute_resource(placement=placement))["Networking"]["PlacementGroup"] == expected


def test_a_placement_group_on_which_all_agree_stands_at_the_queue():
    rendered = one(compute_resource("a"), compute_resource("b"))
    assert rendered["Networking"]["PlacementGroup"] == {"Enabled": False}
    assert all("Networking" not in resource for resource in rendered["ComputeResources"])


def test_placement_groups_that_differ_stand_at_the_compute_resources():
    """PCx-04: as in the Trainium template."""
    rendered = one(compute_resource("a", placement=MANAGED_PLACEMENT), compute_resource("b"))
    assert "PlacementGroup" not in rendered["Networking"]
    assert [resource["Networking"] for resource in rendered["ComputeResources"]] == [
        {"PlacementGroup": {"Enabled": True}},
        {"PlacementGroup": {"Enabled": False}},
    ]


@pytest.mark.parametrize(
    ("capacity", "expected"),
    [
        (ON_DEMAND, {}),
        (SPOT, {}),
        (ODCR, {"CapacityReservationId": stack_files.RESERVATION}),
        (BLOCK, {"CapacityReservationId": stack_files.RESERVATION}),
        (
            replace(ODCR, creation=CREATION, purchase_option="new"),
            {"CapacityReservationId": Reference("reservation", "new")},
        ),
        (
            replace(ODCR_GROUP, reservation_group_members=(), reservation_group_arn=GROUP_ARN),
            {"CapacityReservationResourceGroupArn": GROUP_ARN},
        ),
        (
            ODCR_GROUP,
            {"CapacityReservationResourceGroupArn": Reference("reservation-group", "group")},
        ),
    ],
)
def test_a_reservation_is_targeted_by_id_or_by_group(capacity, expected):
    """PCx-05, PR-07: a group that the stack creates has an ARN only after its creation."""
    assert reservation_target(capacity) == expected
    rendered = one(compute_resource(capacity=capacity))
    assert rendered.get("CapacityReservationTarget", {}) == expected
    assert "CapacityReservationTarget" not in rendered["ComputeResources"][0]


def test_reservations_that_differ_stand_at_the_compute_resources():
    """PCx-05: the Trainium template has it at that level."""
    rendered = one(compute_resource("a", capacity=ODCR), compute_resource("b"), capacity=ODCR)
    assert "CapacityReservationTarget" not in rendered
    first, second = rendered["ComputeResources"]
    assert first["CapacityReservationTarget"] == {"CapacityReservationId": stack_files.RESERVATION}
    assert "CapacityReservationTarget" not in second


def test_static_and_dynamic_nodes():
    """PCx-03, TRN-05, TRN-24, PR-04."""
    rendered = one(compute_resource("a", minimum=4, maximum=4), compute_resource("b", maximum=16))
    sizes = [(r["MinCount"], r["MaxCount"]) for r in rendered["ComputeResources"]]
    assert sizes == [(4, 4), (0, 16)]


def test_a_queue_in_one_subnet_names_its_type():
    """PC-13, PCx-02."""
    trn1 = compute_resource("distributed-ml", instance_type=instance_type("trn1.32xlarge"))
    (resource,) = one(trn1)["ComputeResources"]
    assert (resource["Name"], resource["InstanceType"]) == ("distributed-ml", "trn1.32xlarge")
    assert "Instances" not in resource


@pytest.mark.parametrize(
    "changes",
    [{"subnets": (PRIVATE_A, PRIVATE_B)}, {"allocation_strategy": "capacity-optimized"}],
)
def test_a_queue_that_asks_for_a_fleet_lists_its_types(changes):
    """ParallelCluster refuses `InstanceType` in several subnets and ignores a strategy there."""
    rendered = one(compute_resource(), **changes)
    (resource,) = rendered["ComputeResources"]
    assert resource["Instances"] == [{"InstanceType": "g4dn.8xlarge"}]
    assert "InstanceType" not in resource
    assert rendered.get("AllocationStrategy") == changes.get("allocation_strategy")


def test_subnets_are_references():
    """PC-11: private subnets, whose ids may not exist yet."""
    subnets = render_queue(queue("compute", subnets=(PRIVATE_A, "private-b")))["Networking"]
    assert subnets["SubnetIds"] == [
        Reference("subnet", PRIVATE_A),
        Reference("subnet", "private-b"),
    ]


def test_efa_is_said_where_it_is_on():
    """PC-14; PCx-08: an inference queue has none."""
    rendered = one(compute_resource("a", efa_enabled=True), compute_resource("b"))
    first, second = rendered["ComputeResources"]
    assert first["Efa"] == {"Enabled": True}
    assert "Efa" not in second


def test_local_storage_is_the_root_volume_and_the_scratch_directory():
    """PC-12, TRN-06, TRN-25."""
    rendered = one(root_volume=RootVolume(size_gib=200), scratch_directory="/local_scratch")
    assert rendered["ComputeSettings"]["LocalStorage"] == {
        "RootVolume": {
            "Size": 200,
            "Encrypted": True,
            "VolumeType": "gp3",
            "Iops": 3000,
            "Throughput": 125,
        },
        "EphemeralVolume": {"MountDir": "/local_scratch"},
    }


@pytest.mark.parametrize("exclusive", [True, False])
def test_whether_jobs_share_a_node_is_said(exclusive):
    """PCx-06."""
    assert one(exclusive_jobs=exclusive)["JobExclusiveAllocation"] is exclusive


def test_what_is_not_asked_for_is_left_out():
    rendered = one()
    assert not rendered.keys() & {
        "AllocationStrategy",
        "Image",
        "CapacityReservationTarget",
        "HealthChecks",
        "CustomActions",
        "Iam",
        "CustomSlurmSettings",
    }
    assert rendered["ComputeResources"][0].keys() == {
        "Name",
        "InstanceType",
        "MinCount",
        "MaxCount",
    }


def test_what_is_asked_for_is_there():
    """PCx-01, PCx-07, TRN-22, TRN-23."""
    access = NodeAccess(
        s3_access=(S3Access(bucket="neuron-s3"),),
        on_node_configured=(ScriptPlan(url="s3://neuron-s3/install.sh"),),
    )
    rendered = one(
        compute_resource(
            simultaneous_multithreading=False,
            schedulable_memory_mib=1000,
            slurm_settings={"Weight": "10"},
        ),
        custom_ami_id=stack_files.AMI,
        gpu_health_check=True,
        slurm_settings={"MaxTime": "1-00:00:00"},
        access=access,
    )
    assert rendered["Image"] == {"CustomAmi": stack_files.AMI}
    assert rendered["HealthChecks"] == {"Gpu": {"Enabled": True}}
    assert rendered["CustomSlurmSettings"] == {"MaxTime": "1-00:00:00"}
    assert rendered["CustomActions"]["OnNodeConfigured"]["Sequence"] == [
        {"Script": "s3://neuron-s3/install.sh"}
    ]
    assert rendered["Iam"]["S3Access"][0]["BucketName"] == "neuron-s3"
    (resource,) = rendered["ComputeResources"]
    assert resource["DisableSimultaneousMultithreading"] is True
    assert resource["SchedulableMemory"] == 1000
    assert resource["CustomSlurmSettings"] == {"Weight": "10"}


def test_nodes_that_send_metrics_have_the_tag_by_which_systems_manager_finds_them():
    rendered = one(compute_resource("a", metrics_tag="c/gpu-efa"), compute_resource("b"))
    first, second = rendered["ComputeResources"]
    assert first["Tags"] == [{"Key": "trainyard:node-metrics", "Value": "c/gpu-efa"}]
    assert "Tags" not in second

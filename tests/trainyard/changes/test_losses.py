"""Losses of an update, and changes that are none."""

import pytest

from tests.support.steps import (
    BLOCK,
    ODCR,
    cluster_template,
    managed,
    self_managed,
    step,
    template,
)
from trainyard.changes.losses import collisions, losses, running_blocks
from trainyard.changes.reserved_capacity import COMPUTE_ENVIRONMENT, NODE_GROUP

LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
STACK = "aws:cloudformation/stack:Stack"
POOL = {"configurations": [{"type": "AWS::EC2::CapacityReservationPool"}]}


@pytest.mark.parametrize("operation", ["delete", "replace"])
@pytest.mark.parametrize(
    ("type_token", "kind"),
    [
        (LUSTRE, "data"),
        ("aws:fsx/openZfsFileSystem:OpenZfsFileSystem", "data"),
        ("aws:fsx/openZfsVolume:OpenZfsVolume", "data"),
        ("aws:efs/fileSystem:FileSystem", "data"),
        ("aws:ebs/volume:Volume", "data"),
        ("aws:ecr/repository:Repository", "data"),
        ("kubernetes:core/v1:PersistentVolume", "data"),
        ("kubernetes:core/v1:PersistentVolumeClaim", "data"),
        (STACK, "cluster"),
        ("aws:eks/cluster:Cluster", "cluster"),
        ("aws:ec2/vpc:Vpc", "network"),
        ("aws:ec2/capacityReservation:CapacityReservation", "capacity"),
    ],
)
def test_what_holds_something_is_lost_when_it_goes(type_token, kind, operation):
    (loss,) = losses([step(operation, type_token, "it")])
    assert (loss.name, loss.kind) == ("it", kind)


@pytest.mark.parametrize("operation", ["same", "update", "create"])
def test_what_stays_or_comes_is_no_loss(operation):
    assert losses([step(operation, LUSTRE, "it")]) == ()


def test_what_is_kept_in_the_account_is_no_loss():
    assert losses([step("delete", LUSTRE, "it", retained=True)]) == ()


def test_a_role_or_a_template_may_go():
    others = ("aws:iam/role:Role", "aws:ec2/launchTemplate:LaunchTemplate", "aws:ec2/subnet:Subnet")
    assert losses([step("replace", each, "it") for each in others]) == ()


@pytest.mark.parametrize("group", [managed, self_managed])
def test_nodes_in_a_reservation_are_lost_with_their_group(group):
    (loss,) = losses([template("same", "p4de", ODCR), group("replace", "p4de")])
    assert loss.kind == "capacity"
    assert loss.lost == f"its 2 nodes in reservation {ODCR}, and the jobs on them"


def test_nodes_in_a_block_are_lost_with_their_group():
    (loss,) = losses([template("delete", "p5", BLOCK, block=True), self_managed("delete", "p5")])
    assert loss.capacity is not None
    assert loss.capacity.is_block
    assert f"Capacity Block {BLOCK}" in loss.lost


def test_a_compute_environment_in_a_reservation_is_lost():
    environment = step("replace", COMPUTE_ENVIRONMENT, "p4d-environment")
    (loss,) = losses([template("update", "p4d", ODCR), environment])
    assert loss.name == "p4d-environment"


def test_a_group_on_demand_may_be_replaced():
    on_demand = step("same", "aws:ec2/launchTemplate:LaunchTemplate", "g4dn-launch-template")
    assert losses([on_demand, managed("replace", "g4dn")]) == ()


def test_a_group_of_reservations_is_lost_and_another_resource_group_is_not():
    group = "aws:resourcegroups/group:Group"
    (loss,) = losses([step("delete", group, "pool", old=POOL), step("delete", group, "query")])
    assert (loss.name, loss.kind) == ("pool", "capacity")


def test_shared_storage_that_leaves_a_slurm_cluster_is_lost_unless_it_is_kept():
    old = cluster_template(
        {"Name": "gone", "StorageType": "Efs", "EfsSettings": {"DeletionPolicy": "Delete"}},
        {"Name": "silent", "StorageType": "Ebs"},
        {"Name": "kept", "StorageType": "Efs", "EfsSettings": {"DeletionPolicy": "Retain"}},
        {"Name": "snap", "StorageType": "Ebs", "EbsSettings": {"DeletionPolicy": "Snapshot"}},
        {"Name": "yours", "StorageType": "Efs", "EfsSettings": {"FileSystemId": "fs-1"}},
        {"Name": "stays", "StorageType": "Efs", "EfsSettings": {"DeletionPolicy": "Delete"}},
    )
    new = cluster_template({"Name": "stays", "StorageType": "Efs", "EfsSettings": {}})
    sides = {"old": {"templateBody": old}, "new": {"templateBody": new}}
    found = losses([step("update", STACK, "pc-deployment", **sides)])
    assert [loss.name for loss in found] == ["pc-deployment/gone", "pc-deployment/silent"]


@pytest.mark.parametrize("new", [None, "04da6b54-80e4-46f7-96ec-b56ff0331ba9", "[]"])
def test_a_template_that_is_not_known_yet_loses_no_storage(new):
    sides = {"old": {"templateBody": cluster_template()}, "new": {"templateBody": new}}
    assert losses([step("update", STACK, "pc-deployment", **sides)]) == ()


def renamed(nodes_before, nodes_after, group=managed):
    return [
        template("delete", "old", ODCR),
        group("delete", "old", nodes=nodes_before),
        template("create", "new", ODCR),
        group("create", "new", nodes=nodes_after),
    ]


@pytest.mark.parametrize("group", [managed, self_managed])
@pytest.mark.parametrize(
    ("instances", "before", "after", "collides"),
    [(2, 2, 2, True), (4, 2, 2, False), (2, 0, 2, False), (2, 2, 0, False), (3, 2, 2, True)],
)
def test_a_renamed_pool_needs_room_for_both(group, instances, before, after, collides):
    found = collisions(renamed(before, after, group), {ODCR: instances})
    assert bool(found) == collides


def test_a_reservation_of_unknown_size_is_taken_for_full():
    (found,) = collisions(renamed(2, 2), {})
    assert (found.comes.name, found.goes.name) == ("new-node-group", "old-node-group")


def test_pools_of_different_reservations_do_not_collide():
    steps = [
        template("delete", "old", ODCR),
        managed("delete", "old"),
        template("create", "new", BLOCK, block=True),
        managed("create", "new"),
    ]
    assert collisions(steps, {}) == ()


def environment(operation, pool="old", *, least=2, most=2, changed=True, before=None):
    """Return a compute environment of p4d.24xlarge nodes, which have 96 vCPUs each."""
    old, new = (
        {
            "computeResources": {
                "instanceTypes": ["p4d.24xlarge"],
                "minVcpus": 96 * nodes,
                "maxVcpus": 96 * most,
            }
        }
        for nodes in (before or 0, least)
    )
    path = "launchTemplate.version" if changed else "minVcpus"
    properties = (f"computeResources.{path}",)
    name = f"{pool}-environment"
    return step(operation, COMPUTE_ENVIRONMENT, name, old=old, new=new, changed=properties)


@pytest.mark.parametrize("operation", ["update", "replace"])
@pytest.mark.parametrize(
    ("instances", "least", "collides"), [(2, 2, True), (3, 2, True), (4, 2, False), (2, 0, False)]
)
def test_nodes_that_batch_always_has_come_before_the_old_ones_go(
    operation, instances, least, collides
):
    """G11, pain 9: no update needs twice the reservation; nodes for jobs find room in time."""
    steps = [template("update", "old", ODCR), environment(operation, least=least, before=least)]
    found = collisions(steps, {ODCR: instances})
    assert bool(found) == collides
    assert all(each.comes == each.goes for each in found)


def test_more_nodes_of_the_same_kind_are_no_other_nodes():
    steps = [template("same", "old", ODCR), environment("update", changed=False)]
    assert collisions(steps, {ODCR: 2}) == ()


def test_a_renamed_compute_environment_needs_room_for_the_jobs_of_the_old_one():
    steps = [
        template("delete", "old", ODCR),
        environment("delete", least=0),
        template("create", "new", ODCR),
        environment("create", "new", least=1),
    ]
    assert len(collisions(steps, {ODCR: 2})) == 1
    assert collisions(steps, {ODCR: 3}) == ()


def test_a_compute_environment_on_demand_is_changed_at_will():
    on_demand = step("same", "aws:ec2/launchTemplate:LaunchTemplate", "old-launch-template")
    assert collisions([on_demand, environment("replace")], {}) == ()


def block_group(*changed, desired=2):
    inputs = {"capacityType": "CAPACITY_BLOCK", "scalingConfig": {"desiredSize": desired}}
    return step("update", NODE_GROUP, "p5-node-group", old=inputs, new=inputs, changed=changed)


def test_a_managed_group_of_a_block_gets_other_nodes_only_while_it_has_none():
    assert running_blocks([block_group("launchTemplate.version")])
    assert not running_blocks([block_group("launchTemplate.version", desired=0)])


@pytest.mark.parametrize("changed", ['labels["team"]', "labels.team", "scalingConfig.desiredSize"])
def test_other_changes_of_a_managed_group_of_a_block_are_taken(changed):
    assert not running_blocks([block_group(changed)])

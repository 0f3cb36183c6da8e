"""A cluster placement group over several zones (B5)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import EFA_NETWORK
from tests.support.policy_programs_eks import (
    TOGETHER,
    asg,
    environment,
    fleet,
    on_demand,
    on_demand_nodes,
    placed,
    plain,
    queue,
    zonal_subnet,
)
from trainyard.policies.resources.types import PLACEMENT_GROUP
from trainyard.policies.rules.placement.placement_group_single_zone import POLICY

TWO = ["subnet-a", "subnet-b"]
GROUP = placed(plain(instanceType="m5.large"))
PLACED = {"SubnetIds": TWO, "PlacementGroup": {"Enabled": True}}
PARTITIONS = Declared(PLACEMENT_GROUP, "together", {"strategy": "partition"})
VIOLATING = (
    (GROUP, TOGETHER, asg(vpcZoneIdentifiers=TWO)),
    (GROUP, TOGETHER, on_demand_nodes(subnetIds=TWO)),
    (GROUP, TOGETHER, environment(subnets=TWO)),
    (GROUP, TOGETHER, fleet({"subnetId": "subnet-a"}, {"subnetId": "subnet-b"})),
    (queue(networking=PLACED),),
)
CLEAN = (
    (GROUP, TOGETHER, asg()),
    (plain(), asg(vpcZoneIdentifiers=TWO)),
    (queue(networking={"PlacementGroup": {"Enabled": True}}),),
)


@pytest.mark.parametrize(
    "program", VIOLATING, ids=["auto-scaling", "managed", "batch", "fleet", "slurm"]
)
def test_fails(program):
    (message,) = check(POLICY, *program).messages
    assert "is in one zone" in message
    assert "2 subnets" in message


def test_fails_for_a_group_of_the_auto_scaling_group_itself():
    made = asg(placementGroup=UNKNOWN, vpcZoneIdentifiers=TWO)
    own = Declared(made.type, made.name, made.props, {"placementGroup": ["together"]})
    assert check(POLICY, own, TOGETHER).messages


def test_fails_for_zones_of_a_fleet():
    zones = fleet({"availabilityZone": "us-west-2a"}, {"availabilityZone": "us-west-2b"})
    (message,) = check(POLICY, GROUP, TOGETHER, zones).messages
    assert "2 zones; keep only one in overrides" in message


def test_several_subnets_of_one_zone_pass():
    group = asg(vpcZoneIdentifiers=["a-id", "b-id"])
    assert (
        check(POLICY, GROUP, TOGETHER, group, zonal_subnet("a"), zonal_subnet("b")).messages == []
    )
    other = zonal_subnet("b", "us-west-2c")
    assert check(POLICY, GROUP, TOGETHER, group, zonal_subnet("a"), other).messages


@pytest.mark.parametrize(
    "program",
    [
        *CLEAN,
        (placed(on_demand()), TOGETHER, asg(vpcZoneIdentifiers=TWO), *EFA_NETWORK),
        (queue(networking=PLACED, Efa={"Enabled": True}),),
        (GROUP, PARTITIONS, asg(vpcZoneIdentifiers=TWO)),
        (plain(placement={"groupName": "elsewhere"}), asg(vpcZoneIdentifiers=TWO)),
    ],
    ids=["one", "no-group", "slurm", "efa", "slurm-efa", "partitions", "made-elsewhere"],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_subnets_that_are_not_known_yet_are_said():
    made = asg(vpcZoneIdentifiers=UNKNOWN)
    depends = {**made.depends, "vpcZoneIdentifiers": ["together"]}
    found = check(POLICY, GROUP, TOGETHER, Declared(made.type, made.name, made.props, depends))
    assert found.messages == []
    assert "p5-asg.vpcZoneIdentifiers" in found.undecided[0]

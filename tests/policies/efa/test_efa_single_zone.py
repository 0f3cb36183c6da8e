"""Nodes with EFA in one zone (A6)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import (
    EFA_NETWORK,
    auto_scaling_group,
    compute_environment,
    node_group,
    template,
)
from tests.support.policy_programs_eks import fleet
from trainyard.policies.resources.types import AUTO_SCALING_GROUP, LAUNCH_TEMPLATE, SUBNET
from trainyard.policies.rules.efa.efa_single_zone import POLICY

VIOLATING = (
    (
        template(),
        auto_scaling_group(vpcZoneIdentifiers=["subnet-a", "subnet-b"]),
        *EFA_NETWORK,
    ),
)
CLEAN = ((template(), auto_scaling_group(), *EFA_NETWORK),)

TWO = ["subnet-a", "subnet-b"]


@pytest.mark.parametrize(
    ("group", "fault"),
    [
        (auto_scaling_group(vpcZoneIdentifiers=TWO), "over 2 subnets"),
        (auto_scaling_group(vpcZoneIdentifiers=[UNKNOWN, UNKNOWN]), "over 2 subnets"),
        (node_group(subnetIds=TWO), "keep only one in subnetIds"),
        (auto_scaling_group(vpcZoneIdentifiers=None, availabilityZones=TWO), "over 2 zones"),
        (auto_scaling_group(vpcZoneIdentifiers=TWO, availabilityZones=TWO), "over 2 subnets"),
    ],
    ids=["auto-scaling", "subnets-made-here", "managed", "zones", "zones-that-aws-reports"],
)
def test_fails(group, fault):
    (message,) = check(POLICY, template(), group).messages
    assert "p5-template has EFA interfaces" in message
    assert fault in message


def test_fails_for_a_mixed_instances_policy():
    specification = {"launchTemplateSpecification": {"launchTemplateId": "lt-1"}}
    props = {
        "vpcZoneIdentifiers": TWO,
        "mixedInstancesPolicy": {"launchTemplate": specification},
    }
    by_id = Declared(LAUNCH_TEMPLATE, "p5", {**template().props, "id": "lt-1"})
    assert check(POLICY, by_id, Declared(AUTO_SCALING_GROUP, "mixed", props)).messages


def subnets(*zones):
    return [
        Declared(SUBNET, f"s{i}", {"id": f"subnet-{'ab'[i]}", "availabilityZone": zone})
        for i, zone in enumerate(zones)
    ]


def test_several_subnets_of_one_zone_pass_and_of_two_zones_fail():
    group = auto_scaling_group(vpcZoneIdentifiers=TWO)
    same, different = subnets("us-west-2b", "us-west-2b"), subnets("us-west-2b", "us-west-2c")
    assert check(POLICY, template(), group, *same).messages == []
    assert check(POLICY, template(), group, *different).messages
    assert check(POLICY, template(), group, *subnets("us-west-2b", UNKNOWN)).messages


@pytest.mark.parametrize(
    "program",
    [
        pytest.param([template(), auto_scaling_group()], id="one-subnet"),
        pytest.param([template(), node_group()], id="managed"),
        pytest.param(
            [template("networkInterfaces"), auto_scaling_group(vpcZoneIdentifiers=TWO)],
            id="no-efa",
        ),
        pytest.param([auto_scaling_group(vpcZoneIdentifiers=TWO)], id="template-made-elsewhere"),
        pytest.param(
            [template(), Declared(AUTO_SCALING_GROUP, "old", {"vpcZoneIdentifiers": TWO})],
            id="no-template",
        ),
        pytest.param(
            [template(), auto_scaling_group(availabilityZones=UNKNOWN)], id="zones-left-to-aws"
        ),
    ],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_subnets_that_are_not_known_yet_are_said():
    group = auto_scaling_group(vpcZoneIdentifiers=UNKNOWN)
    depends = {**group.depends, "vpcZoneIdentifiers": ["p5-template"]}
    found = check(POLICY, template(), Declared(group.type, group.name, group.props, depends))
    assert found.messages == []
    assert "p5-asg.vpcZoneIdentifiers" in found.undecided[0]


@pytest.mark.parametrize(
    ("zones", "undecided"),
    [(["us-west-2b", "us-west-2b"], 0), (["us-west-2b", "us-west-2c"], 1)],
    ids=["one-zone", "two-zones"],
)
def test_an_unknown_list_is_decided_if_all_subnets_that_it_depends_on_are_in_one_zone(
    zones, undecided
):
    group = auto_scaling_group(vpcZoneIdentifiers=UNKNOWN)
    depends = {**group.depends, "vpcZoneIdentifiers": ["s0", "s1"]}
    group = Declared(group.type, group.name, group.props, depends)
    found = check(POLICY, template(), group, *subnets(*zones))
    assert found.messages == []
    assert len(found.undecided) == undecided


@pytest.mark.parametrize("spot", [False, True], ids=["ec2-fleet", "spot-fleet"])
def test_a_fleet_names_its_subnets_and_zones_in_overrides(spot):
    subnets = fleet({"subnetId": "subnet-a"}, {"subnetId": "subnet-b"}, spot=spot)
    (message,) = check(POLICY, template(), subnets).messages
    assert "over 2 subnets" in message
    zones = fleet({"availabilityZone": "us-west-2a"}, {"availabilityZone": "us-west-2b"}, spot=spot)
    assert "over 2 zones" in check(POLICY, template(), zones).messages[0]
    one = fleet({"subnetId": "subnet-a"}, {"subnetId": "subnet-a"}, spot=spot)
    assert check(POLICY, template(), one).messages == []


def test_a_compute_environment_of_batch_is_such_a_group():
    """Multi-node parallel jobs with EFA run in one zone."""
    by_id = Declared(LAUNCH_TEMPLATE, "p5", {**template().props, "id": "lt-1"})
    spread = compute_environment(computeResources={"subnets": TWO})
    (message,) = check(POLICY, by_id, spread).messages
    assert "over 2 subnets" in message
    assert check(POLICY, by_id, compute_environment()).messages == []

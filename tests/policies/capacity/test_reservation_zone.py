"""The zone of nodes and of the reservation that they target (C2, C7, D16; pain 7)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import (
    EFA_NETWORK,
    OTHER_ZONE,
    ZONE,
    auto_scaling_group,
    block,
    into,
    node_group,
    odcr,
    pool,
    reserved_queue,
    slurm,
    subnet_ids,
    subnets,
)
from trainyard.policies.resources.types import INSTANCE
from trainyard.policies.rules.capacity.reservation_zone import POLICY

ONE = auto_scaling_group(vpcZoneIdentifiers=subnet_ids(1))
VIOLATING = (
    (odcr(), into(), ONE, *subnets(OTHER_ZONE), *EFA_NETWORK),
    (odcr(id="cr-1"), slurm(reserved_queue("cr-1"), {}), *subnets(OTHER_ZONE)),
)
CLEAN = (
    (odcr(), into(), ONE, *subnets(ZONE), *EFA_NETWORK),
    (odcr(id="cr-1"), slurm(reserved_queue("cr-1"), {}), *subnets(ZONE)),
)


def test_the_message_names_both_zones():
    (message,) = check(POLICY, *VIOLATING[0]).messages
    assert message == (
        "p5-asg: it launches in us-west-2c, but odcr is in us-west-2b; use a subnet of that zone"
    )


@pytest.mark.parametrize(
    "nodes",
    [
        pytest.param(node_group(subnetIds=subnet_ids(1)), id="managed"),
        pytest.param(
            auto_scaling_group(vpcZoneIdentifiers=[], availabilityZones=[OTHER_ZONE]), id="by-zone"
        ),
        pytest.param(
            Declared(
                INSTANCE,
                "node",
                {"subnetId": "subnet-0", "launchTemplate": {"id": UNKNOWN}},
                {"launchTemplate": ["p5-template"]},
            ),
            id="instance",
        ),
    ],
)
def test_fails_for_every_kind_of_nodes(nodes):
    assert len(check(POLICY, odcr(), into(), nodes, *subnets(OTHER_ZONE)).messages) == 1


def test_the_reservation_of_a_group_overrides_that_of_its_template():
    """https://docs.aws.amazon.com/autoscaling/ec2/userguide/use-ec2-capacity-reservations.html"""
    own = {"capacityReservationTarget": {"capacityReservationIds": ["cr-2"]}}
    group = auto_scaling_group(
        vpcZoneIdentifiers=subnet_ids(1), capacityReservationSpecification=own
    )
    program = (odcr(), odcr("own", id="cr-2", availabilityZone=OTHER_ZONE), into(), group)
    assert check(POLICY, *program, *subnets(OTHER_ZONE)).messages == []
    (message,) = check(POLICY, *program, *subnets(ZONE)).messages
    assert "but own is in us-west-2c" in message


def test_fails_for_a_capacity_block_and_for_the_members_of_a_group():
    zone = subnets(OTHER_ZONE)
    assert len(check(POLICY, block(), into("block", market=True), ONE, *zone).messages) == 1
    assert len(check(POLICY, odcr(), *pool("odcr"), into("pool"), ONE, *zone).messages) == 1


@pytest.mark.parametrize(
    "program",
    [
        *(pytest.param(program, id=f"clean-{i}") for i, program in enumerate(CLEAN)),
        pytest.param(
            (
                odcr(),
                into(),
                auto_scaling_group(vpcZoneIdentifiers=subnet_ids(2)),
                *subnets(ZONE, OTHER_ZONE),
            ),
            id="one-of-two",
        ),
        pytest.param((odcr(), into(), ONE), id="subnet-made-elsewhere"),
        pytest.param((odcr(), into(), ONE, *subnets(UNKNOWN)), id="zone-left-to-aws"),
        pytest.param(
            (
                odcr(),
                odcr("other", availabilityZone=OTHER_ZONE),
                *pool("odcr", "other"),
                into("pool"),
                ONE,
                *subnets(OTHER_ZONE),
            ),
            id="group-over-both-zones",
        ),
        pytest.param(
            (
                block(availabilityZone=UNKNOWN),
                into("block", market=True),
                ONE,
                *subnets(OTHER_ZONE),
            ),
            id="block-not-bought-yet",
        ),
        pytest.param(
            (
                odcr(id="cr-1"),
                slurm(
                    reserved_queue(
                        "cr-1", Networking={"SubnetIds": ["subnet-0", {"Ref": "Subnet"}]}
                    ),
                    {},
                ),
                *subnets(OTHER_ZONE),
            ),
            id="a-subnet-that-cloudformation-computes",
        ),
    ],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])

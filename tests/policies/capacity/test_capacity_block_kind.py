"""Capacity Blocks and On-Demand Capacity Reservations, each with its market type (D6)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import (
    BLOCK_ID,
    EFA_NETWORK,
    OWN_ID,
    auto_scaling_group,
    block,
    in_odcr,
    into,
    odcr,
    pool,
    reservation,
    reserved_queue,
    slurm,
    subnets,
    template,
)
from trainyard.policies.resources.types import INSTANCE
from trainyard.policies.rules.capacity.capacity_block_kind import POLICY

VIOLATING = (
    (odcr(), into("odcr", market=True), *EFA_NETWORK),
    (block(), into("block"), *EFA_NETWORK),
    (odcr(id="cr-1"), slurm(reserved_queue("cr-1", CapacityType="CAPACITY_BLOCK"), {})),
)
CLEAN = (
    (odcr(), into(), *EFA_NETWORK),
    (block(), into("block", market=True), *EFA_NETWORK),
    (
        block(id="cr-1"),
        slurm(
            reserved_queue("cr-1", CapacityType="CAPACITY_BLOCK"), {"MinCount": 2, "MaxCount": 2}
        ),
        *subnets("us-west-2b"),
    ),
)


@pytest.mark.parametrize(
    ("program", "fault"),
    list(
        zip(
            VIOLATING,
            (
                "p5-template: its market type is capacity-block, but odcr is an On-Demand",
                "p5-template: it targets the Capacity Block block without the market type",
                "slurm: in its compute resource gpu/p5, its market type is capacity-block",
            ),
            strict=True,
        )
    ),
    ids=["reservation-as-block", "block-as-reservation", "queue"],
)
def test_fails(program, fault):
    (message,) = check(POLICY, *program).messages
    assert message.startswith(fault)


MADE_LATER = into(instanceMarketOptions=UNKNOWN)


@pytest.mark.parametrize(
    "program",
    [
        *CLEAN,
        (into("elsewhere", market=True),),
        (odcr(), block(), *pool("odcr", "block"), into("pool"), auto_scaling_group()),
        (odcr(), block(), *pool("odcr", "block"), into("pool", market=True), auto_scaling_group()),
        (
            odcr(),
            Declared(
                MADE_LATER.type,
                MADE_LATER.name,
                MADE_LATER.props,
                {**MADE_LATER.depends, "instanceMarketOptions": ["odcr"]},
            ),
        ),
    ],
)
def test_passes(program):
    assert check(POLICY, *program).messages == []


def test_the_configuration_tells_the_kind_of_reservations_that_exist():
    blocks, own = {"capacity_blocks": [OWN_ID]}, {"own_reservations": {BLOCK_ID: ""}}
    queue = slurm(reserved_queue(OWN_ID), {})
    for program, config in ((in_odcr(OWN_ID), blocks), (template(), own), (queue, blocks)):
        assert len(check(POLICY, program, config=config).messages) == 1
        assert check(POLICY, program, config={}).messages == []
    assert check(POLICY, template(), config={"capacity_blocks": [BLOCK_ID]}).messages == []
    assert check(POLICY, in_odcr(OWN_ID), config={"assisted_reservations": [OWN_ID]}).messages == []


def test_an_instance_has_the_market_of_its_template():
    from_template = Declared(
        INSTANCE,
        "node",
        {
            "launchTemplate": {"id": "lt-1"},
            "capacityReservationSpecification": reservation(BLOCK_ID),
        },
    )
    assert check(POLICY, from_template, config={"capacity_blocks": [BLOCK_ID]}).messages == []

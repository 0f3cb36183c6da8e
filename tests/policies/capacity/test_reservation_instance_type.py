"""The type of nodes and of the reservation that they target (C1, C7; pain 5)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import (
    EFA_NETWORK,
    auto_scaling_group,
    into,
    node_group,
    odcr,
    pool,
    reserved_queue,
    slurm,
    subnets,
    template,
)
from trainyard.policies.resources.types import INSTANCE
from trainyard.policies.rules.capacity.reservation_instance_type import POLICY

P4D = "p4d.24xlarge"
VIOLATING = (
    (odcr(instanceType=P4D), into(), auto_scaling_group(), *EFA_NETWORK),
    (odcr(id="cr-1", instanceType=P4D), slurm(reserved_queue("cr-1"), {}), *subnets("us-west-2b")),
)
CLEAN = (
    (odcr(), into(), auto_scaling_group(), *EFA_NETWORK),
    (odcr(id="cr-1"), slurm(reserved_queue("cr-1"), {}), *subnets("us-west-2b")),
)


def test_the_message_names_both_types_and_the_group():
    (message,) = check(POLICY, *VIOLATING[0]).messages
    assert message == (
        "p5-asg: it launches p5.48xlarge into odcr, which reserves p4d.24xlarge; set the instance "
        "type to that of the reservation"
    )


def test_a_queue_of_parallelcluster_is_named():
    (message,) = check(POLICY, *VIOLATING[1]).messages
    assert message.startswith("slurm: in its compute resource gpu/p5, it launches p5.48xlarge")


def test_a_template_that_nothing_uses_yet_is_judged_alone():
    assert len(check(POLICY, odcr(instanceType=P4D), into()).messages) == 1


def test_a_group_needs_a_reservation_of_every_type():
    other = odcr("other", instanceType=P4D)
    group = auto_scaling_group(
        mixedInstancesPolicy={
            "launchTemplate": {
                "overrides": [{"instanceType": "p5.48xlarge"}, {"instanceType": P4D}]
            }
        }
    )
    both = (odcr(), other, *pool("odcr", "other"), into("pool"), group)
    assert check(POLICY, *both).messages == []
    (message,) = check(POLICY, odcr(), *pool("odcr"), into("pool"), group).messages
    assert "it launches p4d.24xlarge into odcr" in message


def test_nodes_that_go_on_with_on_demand_may_do_so_with_another_type():
    plain = template("instanceMarketOptions", "capacityReservationSpecification")
    fallback = auto_scaling_group(
        capacityReservationSpecification={
            "capacityReservationPreference": "capacity-reservations-first",
            "capacityReservationTarget": {"capacityReservationIds": ["cr-1"]},
        },
        mixedInstancesPolicy={
            "launchTemplate": {
                "overrides": [{"instanceType": "p5.48xlarge"}, {"instanceType": P4D}]
            }
        },
    )
    assert check(POLICY, odcr(id="cr-1"), plain, fallback).messages == []
    assert check(POLICY, odcr(id="cr-1", instanceType="p5e.48xlarge"), plain, fallback).messages


def test_the_target_of_an_auto_scaling_group_counts():
    group = auto_scaling_group(
        capacityReservationSpecification={
            "capacityReservationTarget": {"capacityReservationIds": ["cr-1"]}
        }
    )
    program = (odcr(id="cr-1", instanceType=P4D), into("elsewhere"), group)
    assert len(check(POLICY, *program).messages) == 1


def test_the_type_of_an_instance_goes_before_that_of_its_template():
    node = Declared(
        INSTANCE,
        "node",
        {"instanceType": P4D, "launchTemplate": {"id": UNKNOWN}},
        {"launchTemplate": ["p5-template"]},
    )
    assert check(POLICY, odcr(instanceType=P4D), into(), node).messages == []
    assert len(check(POLICY, odcr(), into(), node).messages) == 1


@pytest.mark.parametrize(
    "program",
    [
        *(pytest.param(program, id=f"clean-{i}") for i, program in enumerate(CLEAN)),
        pytest.param((into("elsewhere"), auto_scaling_group()), id="made-elsewhere"),
        pytest.param((odcr(instanceType=P4D), *pool(), into("pool")), id="pool-filled-elsewhere"),
        pytest.param(
            (
                odcr(instanceType=P4D),
                *pool("odcr"),
                *(m for m in pool("found") if m.name != "pool"),
                into("pool"),
            ),
            id="pool-with-a-member-from-elsewhere",
        ),
        pytest.param((odcr(instanceType=UNKNOWN), into()), id="reserved-type-known-later"),
        pytest.param(
            (odcr(instanceType=P4D), into(), node_group(instanceTypes=[P4D])), id="listed"
        ),
        pytest.param(
            (
                odcr(id="cr-1"),
                slurm(
                    {},
                    {
                        "InstanceType": P4D,
                        "CapacityReservationTarget": {"CapacityReservationId": "cr-2"},
                    },
                ),
            ),
            id="another-reservation",
        ),
    ],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_a_type_that_is_not_known_yet_is_said():
    made = into(instanceType=UNKNOWN)
    later = Declared(made.type, made.name, made.props, {**made.depends, "instanceType": ["odcr"]})
    found = check(POLICY, odcr(instanceType=P4D), later)
    assert found.messages == []
    assert "p5-template.instanceType" in found.undecided[0]

"""Nodes with EFA without a placement group or reservation (A9)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import EFA_NETWORK, OWN_ID, in_odcr, reservation, template
from tests.support.policy_programs_eks import (
    TOGETHER,
    asg,
    environment,
    fleet,
    on_demand,
    on_demand_nodes,
    placed,
    plain,
)
from trainyard.policies.resources.types import CAPACITY_RESERVATION
from trainyard.policies.rules.efa.efa_placement_group import POLICY

VIOLATING = (
    (on_demand(), asg(), *EFA_NETWORK),
    (on_demand(), on_demand_nodes(), *EFA_NETWORK),
    (on_demand(), environment(), *EFA_NETWORK),
    (on_demand(), fleet(), *EFA_NETWORK),
)
CLEAN = (
    (placed(on_demand()), TOGETHER, asg(), *EFA_NETWORK),
    (in_odcr(OWN_ID), asg(), *EFA_NETWORK),
)
OPEN = Declared(CAPACITY_RESERVATION, "open", {"instanceType": "p5.48xlarge", "instanceCount": 4})
TARGETED = {"capacityReservationTarget": {"capacityReservationIds": [OWN_ID]}}


@pytest.mark.parametrize("program", VIOLATING, ids=["auto-scaling", "managed", "batch", "fleet"])
def test_advises(program):
    (message,) = check(POLICY, *program).messages
    assert "nothing places its nodes close together" in message
    assert message.endswith("in placement of the launch template")


@pytest.mark.parametrize(
    "program",
    [
        *(pytest.param(program, id=f"clean-{i}") for i, program in enumerate(CLEAN)),
        pytest.param((template(), asg()), id="block"),
        pytest.param((on_demand(), asg(placementGroup="mine")), id="group-of-the-pool"),
        pytest.param((on_demand(), environment(placementGroup="mine")), id="group-in-batch"),
        pytest.param(
            (on_demand(), asg(capacityReservationSpecification=TARGETED)), id="reserved-pool"
        ),
        pytest.param((on_demand(), OPEN, asg()), id="open-reservation"),
        pytest.param((on_demand(), asg(1)), id="one-node"),
        pytest.param((on_demand(), environment(maxVcpus=192)), id="one-node-in-batch"),
        pytest.param((on_demand(), asg(vpcZoneIdentifiers=["a", "b"])), id="several-zones"),
        pytest.param((plain(), asg()), id="no-efa"),
        pytest.param((on_demand(instanceType="p99.48xlarge"), asg()), id="type-of-the-future"),
        pytest.param((on_demand(),), id="no-pool"),
    ],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_a_reservation_that_is_not_known_yet_has_its_place():
    made = on_demand()
    props = {**made.props, "capacityReservationSpecification": reservation(UNKNOWN)}
    depends = {**made.depends, "capacityReservationSpecification": ["open"]}
    unknown = Declared(made.type, made.name, props, depends)
    assert check(POLICY, unknown, asg(), OPEN, *EFA_NETWORK).messages == []

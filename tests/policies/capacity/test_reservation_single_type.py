"""Several instance types and one reservation (C4)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import (
    EFA_NETWORK,
    OWN_ID,
    auto_scaling_group,
    in_odcr,
    into,
    node_group,
    odcr,
    pool,
    reserved_queue,
    slurm,
    template,
)
from trainyard.policies.rules.capacity.reservation_single_type import POLICY

TWO = ["p5.48xlarge", "p5e.48xlarge"]
LISTED = node_group(capacityType="ON_DEMAND", instanceTypes=TWO)


def mixed(**changes):
    overrides = [{"instanceType": each} for each in TWO]
    policy = {"mixedInstancesPolicy": {"launchTemplate": {"overrides": overrides}}}
    return auto_scaling_group(**policy, **changes)


SEVERAL = {"Instances": [{"InstanceType": each} for each in TWO]}
VIOLATING = (
    (in_odcr(OWN_ID), mixed(), *EFA_NETWORK),
    (slurm(reserved_queue(OWN_ID), SEVERAL),),
)
CLEAN = (
    (in_odcr(OWN_ID), auto_scaling_group(), *EFA_NETWORK),
    (slurm(reserved_queue(OWN_ID), {}),),
)


def test_the_message_names_the_types():
    (message,) = check(POLICY, *VIOLATING[0]).messages
    assert message.startswith("p5-asg: it may launch p5.48xlarge, p5e.48xlarge, but its launch")
    assert message.endswith("keep one type, or target a resource group of reservations")


def test_a_managed_node_group_with_several_types_fails_too():
    assert len(check(POLICY, in_odcr(OWN_ID), LISTED).messages) == 1


def test_parallelcluster_refuses_the_list_even_with_one_type():
    one = slurm(reserved_queue(OWN_ID), {"Instances": [{"InstanceType": "p5.48xlarge"}]})
    (message,) = check(POLICY, one).messages
    assert "in its compute resource gpu/p5, it lists Instances" in message


OWN_TARGET = {
    "capacityReservationSpecification": {
        "capacityReservationTarget": {"capacityReservationIds": [OWN_ID, "cr-2"]}
    }
}


@pytest.mark.parametrize(
    "program",
    [
        *(pytest.param(program, id=f"clean-{i}") for i, program in enumerate(CLEAN)),
        pytest.param((odcr(), *pool("odcr"), into("pool"), mixed()), id="group"),
        pytest.param((in_odcr(OWN_ID), mixed(**OWN_TARGET)), id="target-of-the-auto-scaling-group"),
        pytest.param((template("capacityReservationSpecification"), mixed()), id="no-target"),
        pytest.param((mixed(),), id="template-made-elsewhere"),
        pytest.param(
            (in_odcr(OWN_ID), node_group(instanceTypes=["p5.48xlarge"])), id="one-type-listed"
        ),
        pytest.param((slurm({}, SEVERAL),), id="queue-on-demand"),
        pytest.param((slurm({}, {}, Scheduling=UNKNOWN),), id="no-queues"),
    ],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])

"""The maximum size of node groups, and the number of reserved instances (C5, D12)."""

from __future__ import annotations

import pytest

from tests.support.policy import check
from tests.support.policy_programs import (
    EFA_NETWORK,
    auto_scaling_group,
    into,
    node_group,
    odcr,
    reserved_queue,
    slurm,
)
from trainyard.policies.rules.capacity.reservation_maximum_size import POLICY


def group(desired: int, maximum: int):
    return auto_scaling_group(desiredCapacity=desired, minSize=0, maxSize=maximum)


VIOLATING = (
    (odcr(), into(), group(2, 4), *EFA_NETWORK),
    (odcr(id="cr-1"), slurm(reserved_queue("cr-1"), {"MinCount": 0, "MaxCount": 3})),
)
CLEAN = ((odcr(), into(), group(0, 2), *EFA_NETWORK),)


def test_the_message_names_both_numbers():
    (message,) = check(POLICY, *VIOLATING[0]).messages
    assert message == (
        "p5-asg: with its nodes, up to 4 nodes launch into odcr, which holds 2; lower the maximum "
        "size, or raise the instance count of the reservation"
    )


def test_a_queue_that_says_no_maximum_has_that_of_parallelcluster():
    (message,) = check(POLICY, odcr(id="cr-1"), slurm(reserved_queue("cr-1"), {})).messages
    assert "up to 10 nodes" in message


def test_managed_groups_and_others_are_counted_together():
    managed = node_group(scalingConfig={"desiredSize": 0, "minSize": 0, "maxSize": 1})
    assert check(POLICY, odcr(), into(), managed).messages == []
    assert len(check(POLICY, odcr(), into(), managed, group(0, 2)).messages) == 1


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(CLEAN[0], id="clean"),
        pytest.param((odcr(), into(), group(3, 4)), id="too-many-at-once-is-another-rule"),
        pytest.param((odcr(), into()), id="template-alone"),
    ],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])

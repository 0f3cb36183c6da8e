"""Nodes before their Capacity Block starts (D8; pain 6)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import (
    EFA_NETWORK,
    auto_scaling_group,
    block,
    in_odcr,
    into,
    node_group,
    scheduled,
    template,
)
from trainyard.policies.resources.types import AUTO_SCALING_SCHEDULE
from trainyard.policies.rules.capacity.capacity_block_not_started import POLICY

LATER, PAST = "2999-01-01T11:30:00Z", "2000-01-01T11:30:00Z"
WANTED = auto_scaling_group(desiredCapacity=2, minSize=0, maxSize=2)
NONE_YET = auto_scaling_group(desiredCapacity=0, minSize=0, maxSize=2)
BOUGHT = block(startDate=LATER, endDate="2999-02-01T11:30:00Z")
INTO_BLOCK = into("block", market=True)
END = scheduled(0, "2999-01-31T10:50:00Z", "end")
VIOLATING = (
    (BOUGHT, INTO_BLOCK, WANTED, END, *EFA_NETWORK),
    (template(), WANTED, scheduled(2, LATER), END, *EFA_NETWORK),
)
CLEAN = (
    (BOUGHT, INTO_BLOCK, NONE_YET, scheduled(2, LATER), END, *EFA_NETWORK),
    (block(), INTO_BLOCK, WANTED, END, *EFA_NETWORK),
)


@pytest.mark.parametrize("program", VIOLATING, ids=["bought-here", "scheduled-here"])
def test_fails(program):
    (message,) = check(POLICY, *program).messages
    assert message == (
        "p5-asg: it requests 2 nodes now, but its Capacity Block starts at 2999-01-01 11:30 UTC, "
        "and launches fail until then; set the desired and minimum size to 0 until it starts"
    )


def test_a_managed_node_group_that_wants_nodes_fails():
    group = node_group(scalingConfig={"desiredSize": 2, "minSize": 0, "maxSize": 2})
    assert len(check(POLICY, BOUGHT, INTO_BLOCK, group).messages) == 1
    action = Declared(
        AUTO_SCALING_SCHEDULE,
        "start",
        {"autoscalingGroupName": UNKNOWN, "desiredCapacity": 2, "startTime": LATER},
        {"autoscalingGroupName": ["p5-nodes"]},
    )
    assert len(check(POLICY, template(), group, action).messages) == 1


@pytest.mark.parametrize(
    "program",
    [
        *(pytest.param(program, id=f"clean-{i}") for i, program in enumerate(CLEAN)),
        pytest.param((template(), WANTED), id="times-not-seen"),
        pytest.param((template(), WANTED, scheduled(2, PAST)), id="started"),
        pytest.param((template(), WANTED, scheduled(4, LATER)), id="grows-in-an-active-block"),
        pytest.param(
            (template(), WANTED, scheduled(2, LATER, recurrence="0 8 * * *")), id="every-morning"
        ),
        pytest.param((template(), WANTED, scheduled(2, UNKNOWN)), id="time-known-later"),
        pytest.param((in_odcr("cr-1"), WANTED, scheduled(2, LATER)), id="not-a-block"),
        pytest.param(
            (template(), WANTED, scheduled(2, LATER, group="another-group")), id="another-group"
        ),
        pytest.param((block(startDate=UNKNOWN), INTO_BLOCK, WANTED), id="not-bought-yet"),
        pytest.param((block(startDate="soon"), INTO_BLOCK, WANTED), id="no-time"),
    ],
)
def test_passes(program):
    assert check(POLICY, *program).messages == []

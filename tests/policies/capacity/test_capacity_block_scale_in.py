"""Self-managed nodes at the end of a Capacity Block (D9; pain 6)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import (
    EFA_NETWORK,
    auto_scaling_group,
    block,
    in_odcr,
    into,
    node_group,
    pool,
    scheduled,
    template,
)
from trainyard.components.catalog.capacity_blocks import ULTRASERVERS, terminated_before_end
from trainyard.components.catalog.instance_types import INSTANCE_TYPES
from trainyard.policies.rules.capacity.capacity_block_scale_in import POLICY, last_scale_in

GROUP = auto_scaling_group(desiredCapacity=2, minSize=0, maxSize=2)
BOUGHT = block(endDate="2999-01-01T11:30:00Z")
INTO_BLOCK = into("block", market=True)
END = datetime(2999, 1, 1, 11, 30, tzinfo=UTC)
IN_TIME, TOO_LATE = "2999-01-01T10:50:00Z", "2999-01-01T11:20:00Z"
VIOLATING = (
    (template(), GROUP, *EFA_NETWORK),
    (BOUGHT, INTO_BLOCK, GROUP, scheduled(0, TOO_LATE), *EFA_NETWORK),
)
CLEAN = (
    (template(), GROUP, scheduled(0, IN_TIME), *EFA_NETWORK),
    (BOUGHT, INTO_BLOCK, GROUP, scheduled(0, IN_TIME), *EFA_NETWORK),
)


def test_fails_without_a_scheduled_action_to_zero():
    (message,) = check(POLICY, template(), GROUP, scheduled(1, IN_TIME)).messages
    assert message.startswith(
        "p5-asg: it launches into a Capacity Block without a scheduled scale-in"
    )


def test_fails_for_an_action_in_the_last_thirty_minutes():
    (message,) = check(POLICY, *VIOLATING[1]).messages
    assert message.endswith("; move it to 2999-01-01 11:00 UTC or earlier")


def test_the_schedule_of_another_group_is_none_of_this_one():
    other = Declared(GROUP.type, "other", GROUP.props)
    program = (template(), GROUP, other, scheduled(0, IN_TIME, group="other"))
    (message,) = check(POLICY, *program).messages
    assert message.startswith("p5-asg: it launches into a Capacity Block without a scheduled")


def test_a_time_without_an_offset_is_in_utc():
    bought = block(endDate="2999-01-01T11:30:00")
    (message,) = check(POLICY, bought, INTO_BLOCK, GROUP, scheduled(0, TOO_LATE)).messages
    assert message.endswith("; move it to 2999-01-01 11:00 UTC or earlier")


@pytest.mark.parametrize("instance_type", ["p6e-gb200.36xlarge", "trn2u.48xlarge"])
def test_an_ultraserver_is_left_an_hour_before_its_end(instance_type):
    bought = block(instanceType=instance_type, endDate="2999-01-01T11:30:00Z")
    program = (INTO_BLOCK, GROUP, scheduled(0, IN_TIME))
    (message,) = check(POLICY, bought, *program).messages
    assert message.endswith("; move it to 2999-01-01 10:30 UTC or earlier")


def test_the_rule_and_the_schedule_have_the_same_time_for_every_type():
    """The pack imports no component, so that it has a list of its own."""
    for name in {*INSTANCE_TYPES, *(each.instance_type for each in ULTRASERVERS.values())}:
        assert last_scale_in(END, {name}) == END - terminated_before_end(name)


@pytest.mark.parametrize(
    "program",
    [
        *(pytest.param(program, id=f"clean-{i}") for i, program in enumerate(CLEAN)),
        pytest.param(
            (*CLEAN[1], scheduled(0, TOO_LATE, name="again")), id="in-time-and-again-at-the-end"
        ),
        pytest.param(
            (
                BOUGHT,
                block("next", endDate="2999-01-09T11:30:00Z"),
                *pool("block", "next"),
                into("pool", market=True),
                GROUP,
                scheduled(0, "2999-01-09T11:20:00Z"),
            ),
            id="which-of-two-blocks-is-not-told",
        ),
        pytest.param((template(), node_group()), id="eks-scales-in-its-own"),
        pytest.param((in_odcr("cr-1"), GROUP), id="not-a-block"),
        pytest.param((template(),), id="template-alone"),
        pytest.param(
            (template(), GROUP, scheduled(0, UNKNOWN, recurrence="0 8 * * *")), id="every-morning"
        ),
        pytest.param(
            (block(endDate=UNKNOWN), INTO_BLOCK, GROUP, scheduled(0, IN_TIME)), id="not-bought-yet"
        ),
    ],
)
def test_passes(program):
    assert check(POLICY, *program).messages == []

"""What the schema refuses about a reservation by itself."""

from __future__ import annotations

import pytest

from tests.support.stack_files import changed, schema_problems


def test_refuses_an_aws_assisted_reservation_with_a_placement_group():
    """B10: a second placement group gives insufficient-capacity errors."""
    raw = changed(
        reservations__block={
            "kind": "odcr",
            "reservation_id": "cr-0123456789abcdef0",
            "provenance": "aws-assisted",
            "placement_group": "mine",
        }
    )
    problem = schema_problems(raw)["reservations.block.placement_group"]
    assert "`mine`" in problem.problem
    assert "InsufficientInstanceCapacity" in problem.problem
    assert "`provenance: own`" in problem.remedy


@pytest.mark.parametrize(
    ("group", "state"),
    [
        pytest.param({}, "no reservations", id="neither"),
        pytest.param(
            {
                "group_arn": "arn:aws:resource-groups:us-west-2:123456789012:group/g",
                "members": ["cr-0123456789abcdef0"],
            },
            "both",
            id="both",
        ),
    ],
)
def test_refuses_a_reservation_group_without_exactly_one_source(group, state):
    """C8."""
    raw = changed(reservations__block={"kind": "odcr-group", **group})
    assert state in schema_problems(raw)["reservations.block.group_arn"].problem

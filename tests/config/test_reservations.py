"""Reservations that the schema refuses."""

from __future__ import annotations

import pytest

from tests.support.eks import changed, schema_problems


def test_refuses_an_aws_assisted_reservation_with_a_placement_group():
    """B10: a second placement group leads to insufficient-capacity errors."""
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


def test_refuses_a_placement_group_beside_one_that_is_read_from_the_account():
    """B8."""
    raw = changed(
        reservations__block={
            "kind": "odcr",
            "reservation_id": "cr-0123456789abcdef0",
            "provenance": "auto",
            "placement_group": "mine",
        }
    )
    problem = schema_problems(raw)["reservations.block.placement_group"]
    assert "`provenance: auto` reads it" in problem.problem


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


@pytest.mark.parametrize(
    ("entry", "key", "words"),
    [
        pytest.param(
            {
                "kind": "odcr",
                "reservation_id": "cr-0123456789abcdef0",
                "group_arn": "arn:aws:resource-groups:us-west-2:123456789012:group/g",
            },
            "group_arn",
            "belongs to `kind: odcr-group`, but this is `kind: odcr`",
            id="group-beside-an-id",
        ),
        pytest.param(
            {"kind": "odcr-group", "members": [], "reservation_id": "cr-0123456789abcdef0"},
            "reservation_id",
            "belongs to `kind: odcr` or `kind: capacity-block`, but this is `kind: odcr-group`",
            id="id-beside-members",
        ),
    ],
)
def test_a_key_of_another_kind_is_called_so(entry, key, words):
    """PR-52: an id and a group together."""
    problem = schema_problems(changed(reservations__block=entry))[f"reservations.block.{key}"]
    assert problem.problem == words
    assert "remove" in problem.remedy or " rm " in problem.remedy

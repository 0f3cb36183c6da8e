"""Resource groups that launches target (C6)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import (
    EFA_NETWORK,
    OWN_ID,
    POOL_CONFIGURATION,
    into,
    odcr,
    pool,
)
from trainyard.components.compute.reservations import ReservationGroup, ReservationGroupArgs
from trainyard.policies.resources.types import RESOURCE_GROUP
from trainyard.policies.rules.capacity.reservation_group_pool import POLICY

QUERY = {"resourceQuery": {"query": "{}"}, "configurations": []}
VIOLATING = ((odcr(), *pool("odcr", **QUERY), into("pool"), *EFA_NETWORK),)
CLEAN = ((odcr(), *pool("odcr"), into("pool"), *EFA_NETWORK),)


def test_the_group_is_named():
    (message,) = check(POLICY, *VIOLATING[0]).messages
    assert message.startswith("pool: launches target the group, but it has no configuration AWS::")


def test_a_group_of_another_kind_fails():
    other = pool(configurations=POOL_CONFIGURATION[1:])
    assert len(check(POLICY, *other, into("pool")).messages) == 1


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(CLEAN[0], id="clean"),
        pytest.param(pool("odcr", **QUERY), id="nobody-targets-it"),
        pytest.param((into("pool"),), id="made-elsewhere"),
        pytest.param((odcr(), into()), id="targeted-by-id"),
    ],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_configurations_that_are_not_known_yet_are_said():
    group, *_ = pool(configurations=UNKNOWN)
    later = Declared(group.type, group.name, group.props, {"configurations": ["odcr"]})
    found = check(POLICY, odcr(), later, into("pool"))
    assert found.messages == []
    assert "pool.configurations" in found.undecided[0]


def test_the_group_that_the_program_makes_is_a_pool(deploy):
    """A rule for other properties than the component's would refuse the program's own stacks."""

    def program():
        args = ReservationGroupArgs(members=(OWN_ID,), region="us-west-2", tags={})
        ReservationGroup("reserved", args)

    (group,) = deploy(program).of_type(RESOURCE_GROUP)
    ours = Declared(group.type, "pool", group.inputs)
    assert check(POLICY, ours, into("pool")).messages == []
    assert len(check(POLICY, Declared(group.type, "pool", {}), into("pool")).messages) == 1

"""The zone of multi-node parallel jobs without EFA (G2)."""

from __future__ import annotations

import pytest

from tests.support.policy import Declared, check
from tests.support.policy_programs import (
    EFA_NETWORK,
    compute_environment,
    multi_node_job,
    single_node_job,
    template,
)
from tests.support.policy_programs_eks import subnet, vpc
from trainyard.policies.rules.batch.mnp_single_zone import POLICY

NETWORK = (vpc(), subnet("one", "us-west-2a"), subnet("two", "us-west-2b"))
NEIGHBOURS = (vpc(), subnet("one", "us-west-2a"), subnet("two", "us-west-2a"))


def environment(**resources):
    return compute_environment(computeResources={"subnets": ["one-id", "two-id"], **resources})


def with_efa():
    made = environment(launchTemplate={"launchTemplateId": "p5-template-id", "version": "1"})
    return (made, Declared(*_with_id(template())), *EFA_NETWORK)


def _with_id(made):
    return made.type, made.name, {"id": "p5-template-id", **made.props}, made.depends


VIOLATING = ((multi_node_job(), environment(), *NETWORK),)
RIGHT = {
    "one-zone": (multi_node_job(), environment(), *NEIGHBOURS),
    "one-subnet": (multi_node_job(), environment(subnets=["one-id"]), *NETWORK),
    "no-multi-node-job": (single_node_job(), environment(), *NETWORK),
    "subnets-elsewhere": (multi_node_job(), environment()),
}
CLEAN = tuple(RIGHT.values())


def test_fails():
    (message,) = check(POLICY, *VIOLATING[0]).messages
    assert "its subnets are in us-west-2a, us-west-2b" in message


@pytest.mark.parametrize("program", RIGHT.values(), ids=RIGHT)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_an_environment_with_efa_is_left_to_the_rule_that_refuses_it():
    assert check(POLICY, multi_node_job(), *with_efa(), *NETWORK).messages == []

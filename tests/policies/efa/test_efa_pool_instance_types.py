"""Types that a pool lists in addition to a launch template with EFA (A1, A4, A8)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import EFA_NETWORK, interface, node_group, template
from tests.support.policy_programs_eks import (
    environment,
    fleet,
    mixed,
    on_demand,
    on_demand_nodes,
    plain,
)
from trainyard.policies.rules.efa.efa_pool_instance_types import POLICY

UNTYPED = on_demand("instanceType")
VIOLATING = (
    (UNTYPED, on_demand_nodes(instanceTypes=["p5en.48xlarge"]), *EFA_NETWORK),
    (on_demand(), mixed("p5.48xlarge", "c5.9xlarge"), *EFA_NETWORK),
    (UNTYPED, environment(instanceTypes=["p4d.24xlarge"]), *EFA_NETWORK),
    (on_demand(), fleet({"instanceType": "g5.48xlarge"}), *EFA_NETWORK),
    (on_demand(), fleet({"instanceType": "g5.48xlarge"}, spot=True), *EFA_NETWORK),
)
CLEAN = (
    (UNTYPED, on_demand_nodes(instanceTypes=["p5.48xlarge"]), *EFA_NETWORK),
    (on_demand(), mixed("p5.48xlarge", "p5e.48xlarge"), *EFA_NETWORK),
    (UNTYPED, environment(), *EFA_NETWORK),
    (template(), node_group(), *EFA_NETWORK),
)


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        (VIOLATING[0], "has 32 EFA interfaces and p5en.48xlarge takes at most 16"),
        (VIOLATING[1], "has 32 EFA interfaces and c5.9xlarge takes none"),
        (VIOLATING[2], "p4d.24xlarge takes at most 4"),
        (VIOLATING[3], "g5.48xlarge takes at most 1"),
        (VIOLATING[4], "g5.48xlarge takes at most 1"),
    ],
    ids=["node-group", "mixed-instances", "batch", "fleet", "spot-fleet"],
)
def test_fails(program, fault):
    (message,) = check(POLICY, *program).messages
    assert "its launch template p5-template" in message
    assert fault in message


@pytest.mark.parametrize(
    "pool",
    [
        pytest.param(environment(instanceTypes=["p4d", "optimal"]), id="families"),
        pytest.param(environment(instanceTypes=["p99.48xlarge"]), id="type-of-the-future"),
        pytest.param(environment(instanceTypes=[UNKNOWN]), id="not-known-yet"),
    ],
)
def test_what_is_no_type_of_the_catalog_is_not_judged(pool):
    assert check(POLICY, UNTYPED, pool, *EFA_NETWORK).messages == []


@pytest.mark.parametrize("program", CLEAN)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_a_type_that_takes_one_interface_less_is_refused():
    two = on_demand(networkInterfaces=[interface(0, 0, "efa"), interface(1, 0)])
    (message,) = check(POLICY, two, mixed("p4d.24xlarge", "g5.48xlarge"), *EFA_NETWORK).messages
    assert "has 2 EFA interfaces and g5.48xlarge takes at most 1" in message


def test_a_template_without_efa_says_nothing_of_types():
    assert check(POLICY, plain(), mixed("p5.48xlarge", "c5.9xlarge")).messages == []

"""EFA interfaces that are separate resources (A1, A4, A11 to A14)."""

from __future__ import annotations

import pytest

from tests.support.policy import UNKNOWN, Declared, check
from tests.support.policy_programs import EFA_NETWORK
from tests.support.policy_programs_eks import instance, own_interface
from trainyard.policies.resources.types import INSTANCE, NETWORK_INTERFACE_ATTACHMENT
from trainyard.policies.rules.efa.efa_attached_interfaces import POLICY

PRIMARY, SECOND = own_interface("primary"), own_interface("second")
ATTACHED = Declared(
    NETWORK_INTERFACE_ATTACHMENT,
    "late",
    {"instanceId": UNKNOWN, "networkInterfaceId": UNKNOWN, "deviceIndex": 1},
    {"instanceId": ["node"], "networkInterfaceId": ["second"]},
)
VIOLATING = (
    (PRIMARY, SECOND, instance(("primary", 0, 0), ("second", 0, 1)), *EFA_NETWORK),
    (PRIMARY, instance(("primary", 0, 0), instanceType="c5.9xlarge"), *EFA_NETWORK),
    (PRIMARY, SECOND, instance(("primary", 0, 0)), ATTACHED, *EFA_NETWORK),
)
CLEAN = ((PRIMARY, SECOND, instance(("primary", 0, 0), ("second", 1, 1)), *EFA_NETWORK),)


@pytest.mark.parametrize(
    ("program", "fault"),
    [
        pytest.param(VIOLATING[0], "network card 0 has 2 EFA interfaces", id="two-on-a-card"),
        pytest.param(VIOLATING[1], "but c5.9xlarge has no EFA", id="type-without-efa"),
        pytest.param(VIOLATING[2], "attaches second, an EFA, to node", id="to-a-running-instance"),
        pytest.param(
            (PRIMARY, instance(("primary", 0, 0), instanceType="p6-b300.48xlarge")),
            "its card of p6-b300.48xlarge takes no efa interface",
            id="card-without-efa",
        ),
        pytest.param(
            (own_interface("primary", "efa-only"), instance(("primary", 0, 0))),
            "is the primary and is efa-only",
            id="efa-only-primary",
        ),
    ],
)
def test_fails(program, fault):
    (message,) = check(POLICY, *program).messages
    assert fault in message


def test_the_primary_interface_is_one_of_them():
    by_id = {"primaryNetworkInterface": {"networkInterfaceId": "primary-id"}}
    program = PRIMARY, SECOND, instance(("second", 0, 1), **by_id)
    assert "network card 0 has 2 EFA interfaces" in check(POLICY, *program).messages[0]


def test_aws_reports_the_primary_interface_of_a_running_instance_twice():
    by_id = {"primaryNetworkInterface": {"networkInterfaceId": "primary-id"}}
    assert check(POLICY, PRIMARY, instance(("primary", 0, 0), **by_id)).messages == []


@pytest.mark.parametrize(
    "program",
    [
        CLEAN[0],
        (own_interface("plain", None), instance(("plain", 0, 0)), ATTACHED),
        (instance(("elsewhere", 0, 0), ("elsewhere", 0, 0)),),
    ],
    ids=["one-a-card", "no-efa", "made-elsewhere"],
)
def test_passes(program):
    found = check(POLICY, *program)
    assert (found.messages, found.undecided) == ([], [])


def test_interfaces_whose_ids_are_not_known_yet_are_those_it_depends_on():
    """Two interfaces of one type: their order does not matter then."""
    places = [
        {"networkInterfaceId": UNKNOWN, "networkCardIndex": 0, "deviceIndex": d} for d in (0, 1)
    ]
    depends = {"networkInterfaces": ["primary", "second"]}
    props = {"instanceType": "p5.48xlarge", "networkInterfaces": places}
    found = check(POLICY, PRIMARY, SECOND, Declared(INSTANCE, "node", props, depends))
    assert "network card 0 has 2 EFA interfaces" in found.messages[0]


def test_an_unknown_instance_type_leaves_what_needs_no_catalog():
    unknown = instance(("primary", 0, 0), ("second", 0, 1), instanceType=UNKNOWN)
    node = Declared(unknown.type, unknown.name, unknown.props, {"instanceType": ["primary"]})
    found = check(POLICY, PRIMARY, SECOND, node)
    assert len(found.messages) == 1
    assert "node.instanceType" in found.undecided[0]

"""EFA interfaces up to the type's maximum (A1, A4)."""

from __future__ import annotations

import pytest

from tests.support.instance_types import EFA_TYPES
from tests.support.policy import UNKNOWN, check
from tests.support.policy_programs import EFA_NETWORK, interface, p5_interfaces, template
from trainyard.components.compute.interface_plan import plan_interfaces
from trainyard.policies.rules.efa.efa_interface_count import POLICY

VIOLATING = (
    (
        template(networkInterfaces=[*p5_interfaces(), interface(1, 1)]),
        *EFA_NETWORK,
    ),
)
CLEAN = ((template(), *EFA_NETWORK),)


def test_fails_for_one_too_many():
    interfaces = [*p5_interfaces(), interface(31, 1)]
    (message,) = check(POLICY, template(networkInterfaces=interfaces)).messages
    assert "33 EFA interfaces" in message
    assert "at most 32" in message
    assert message.endswith("remove 1 of them")


def test_fails_for_cards_counted_instead_of_efa_interfaces():
    """p6-b300 has 17 cards, and 16 EFA interfaces."""
    interfaces = [interface(card, 0, "efa") for card in range(17)]
    program = template(instanceType="p6-b300.48xlarge", networkInterfaces=interfaces)
    assert "at most 16" in check(POLICY, program).messages[0]


def test_fails_for_a_type_without_efa():
    program = template(instanceType="c5.2xlarge", networkInterfaces=[interface(0, 0, "efa")])
    (message,) = check(POLICY, program).messages
    assert "c5.2xlarge has no EFA" in message


@pytest.mark.parametrize("layout", ["efa-only", "efa"])
@pytest.mark.parametrize("instance_type", EFA_TYPES, ids=lambda t: t.name)
def test_what_we_plan_ourselves_passes(instance_type, layout):
    interfaces = [
        interface(i.network_card_index, i.device_index, i.interface_type)
        for i in plan_interfaces(instance_type, layout).interfaces
    ]
    program = template(instanceType=instance_type.name, networkInterfaces=interfaces)
    assert check(POLICY, program).messages == []


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(template("networkInterfaces"), id="no-interfaces"),
        pytest.param(template(networkInterfaces=[{"deviceIndex": 0}]), id="no-efa"),
        pytest.param(template("instanceType"), id="type-stands-elsewhere"),
        pytest.param(template(instanceType="p99.48xlarge"), id="type-of-the-future"),
    ],
)
def test_passes(program):
    found = check(POLICY, program)
    assert (found.messages, found.undecided) == ([], [])


@pytest.mark.parametrize("change", [{"instanceType": UNKNOWN}, {"networkInterfaces": UNKNOWN}])
def test_what_cannot_be_told_is_said(change):
    found = check(POLICY, template(**change))
    assert found.messages == []
    assert len(found.undecided) == 1


def test_an_interface_of_unknown_type_does_not_stop_the_count_of_the_others():
    interfaces = [interface(0, 0, UNKNOWN), *p5_interfaces(), interface(31, 1)]
    found = check(POLICY, template(networkInterfaces=interfaces))
    assert len(found.messages) == 1
    assert len(found.undecided) == 1

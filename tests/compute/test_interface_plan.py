"""The network-interface matrix; rules A4, A11 to A14, rows EKN-09 and EKN-10."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.eks import config
from tests.support.eks import p5 as p5_group
from tests.support.instance_types import EFA_TYPES
from trainyard.components.catalog.instance_types import instance_type
from trainyard.components.compute.interface_plan import (
    NetworkInterface,
    plan_interfaces,
    plan_pool_interfaces,
)

LAYOUTS = ("efa-only", "efa")
any_type = st.sampled_from(EFA_TYPES)
any_layout = st.sampled_from(LAYOUTS)


def places(plan, kind=None):
    return [
        (i.network_card_index, i.device_index)
        for i in plan.interfaces
        if kind is None or i.interface_type == kind
    ]


@given(any_type, any_layout)
def test_every_efa_interface_of_the_type_is_used(efa_type, layout):
    """A4: the count is the type's maximum, not its number of cards."""
    assert plan_interfaces(efa_type, layout).efa_interfaces == efa_type.efa_interfaces


@given(any_type, any_layout)
def test_the_primary_comes_first_and_is_the_only_one_of_its_place(efa_type, layout):
    """A11."""
    plan = plan_interfaces(efa_type, layout)
    assert places(plan)[0] == (0, 0)
    assert places(plan).count((0, 0)) == 1
    assert plan.interfaces[0].interface_type != "efa-only"


@given(any_type, any_layout)
def test_no_place_is_used_twice(efa_type, layout):
    """A14."""
    plan = plan_interfaces(efa_type, layout)
    assert len(set(places(plan))) == len(plan.interfaces)


@given(any_type, any_layout)
def test_every_interface_fits_its_card(efa_type, layout):
    cards = {card.index: card for card in efa_type.network_cards}
    plan = plan_interfaces(efa_type, layout)
    for interface in plan.interfaces:
        card = cards[interface.network_card_index]
        assert interface.device_index < card.maximum_interfaces
        assert interface.interface_type in card.interface_types
    assert len(plan.interfaces) <= efa_type.maximum_network_interfaces


@given(any_type)
def test_in_the_efa_only_layout_one_interface_takes_an_address(efa_type):
    plan = plan_interfaces(efa_type)
    assert plan.addresses_per_node == 1
    assert plan.interfaces[0].takes_address


@given(any_type)
def test_in_the_efa_only_layout_there_is_one_interface_more_than_efas(efa_type):
    """Except if card 0 has a single interface, as on hpc6id, which is then an EFA interface."""
    single = efa_type.network_cards[0].maximum_interfaces == 1
    beside = 0 if single else 1
    assert len(plan_interfaces(efa_type).interfaces) == efa_type.efa_interfaces + beside


@given(any_type)
def test_in_the_efa_layout_there_is_at_most_one_interface_a_card(efa_type):
    cards = [card for card, _ in places(plan_interfaces(efa_type, "efa"))]
    assert len(set(cards)) == len(cards)


@pytest.mark.parametrize(
    ("name", "cards", "total"),
    [
        pytest.param("p4d.24xlarge", range(1, 4), 5, id="p4d"),
        pytest.param("p4de.24xlarge", range(1, 4), 5, id="p4de"),
        pytest.param("p5.48xlarge", range(1, 32), 33, id="p5"),
        pytest.param("p5e.48xlarge", range(1, 32), 33, id="p5e"),
        pytest.param("p5en.48xlarge", range(1, 16), 17, id="p5en"),
        pytest.param("p6-b200.48xlarge", range(1, 8), 9, id="p6-b200"),
        pytest.param("trn1.32xlarge", range(1, 8), 9, id="trn1"),
        pytest.param("trn1n.32xlarge", range(1, 16), 17, id="trn1n"),
        pytest.param("trn2.48xlarge", range(1, 16), 17, id="trn2"),
        pytest.param("g6e.48xlarge", range(1, 4), 5, id="g6e-48xl"),
        pytest.param("g4dn.8xlarge", range(0), 2, id="g4dn"),
        pytest.param("p5.4xlarge", range(0), 2, id="p5-4xl"),
    ],
)
def test_the_efa_only_layout_of_the_matrix(name, cards, total):
    """A12."""
    plan = plan_interfaces(instance_type(name))
    assert places(plan, "interface") == [(0, 0)]
    assert places(plan, "efa-only") == [(0, 1), *((card, 0) for card in cards)]
    assert len(plan.interfaces) == total


def test_card_zero_of_p6_b300_carries_no_efa():
    """A13."""
    plan = plan_interfaces(instance_type("p6-b300.48xlarge"))
    assert places(plan, "interface") == [(0, 0)]
    assert places(plan, "efa-only") == [(card, 0) for card in range(1, 17)]


def test_the_efa_layout_of_p5_is_the_old_templates():
    """EKN-09."""
    plan = plan_interfaces(instance_type("p5.48xlarge"), "efa")
    assert places(plan, "efa") == [(0, 0), *((card, 1) for card in range(1, 32))]
    assert plan.addresses_per_node == 32


def test_the_efa_layout_of_p6_b300_starts_with_an_interface():
    plan = plan_interfaces(instance_type("p6-b300.48xlarge"), "efa")
    assert plan.interfaces[0] == NetworkInterface(0, 0, "interface")
    assert places(plan, "efa") == [(card, 1) for card in range(1, 17)]


def test_a_card_zero_with_a_single_slot_gets_one_efa():
    p5 = instance_type("p5.4xlarge")
    single = dataclasses.replace(p5.network_cards[0], maximum_interfaces=1)
    plan = plan_interfaces(dataclasses.replace(p5, network_cards=(single,)))
    assert plan.interfaces == (NetworkInterface(0, 0, "efa"),)


def test_a_further_card_with_a_single_slot_uses_it_in_the_efa_layout():
    p5 = instance_type("p5.48xlarge")
    cards = tuple(dataclasses.replace(card, maximum_interfaces=1) for card in p5.network_cards)
    plan = plan_interfaces(dataclasses.replace(p5, network_cards=cards), "efa")
    assert set(places(plan)) == {(card, 0) for card in range(32)}


def test_fails_for_a_type_without_efa():
    """A1."""
    with pytest.raises(ValueError, match=r"t3\.large has no EFA interface; set efa_enabled: false"):
        plan_interfaces(instance_type("t3.large"))


def test_a_slot_of_card_zero_that_something_needs_later_stays_free():
    """BAT5-03, pain 6: a container of a multi-node Batch job uses an interface of card 0."""
    plan = plan_interfaces(instance_type("p5.48xlarge"), spare_on_card_zero=1)
    assert places(plan, "efa") == [(0, 0)]
    assert places(plan, "efa-only") == [(card, 0) for card in range(1, 32)]
    assert (plan.efa_interfaces, plan.addresses_per_node) == (32, 1)


def test_a_card_zero_with_room_enough_is_wired_as_ever():
    p4d = instance_type("p4d.24xlarge")
    assert plan_interfaces(p4d, spare_on_card_zero=1) == plan_interfaces(p4d)


def test_a_further_card_without_efa_has_no_interface():
    """EC2 accepts EFA only on cards that support it."""
    p5 = instance_type("p5.48xlarge")
    first, second, *further = p5.network_cards
    plain = dataclasses.replace(second, interface_types=("interface",))
    cards = (first, plain, *further)
    changed = dataclasses.replace(p5, network_cards=cards)
    for layout in LAYOUTS:
        found = plan_interfaces(changed, layout)
        assert second.index not in {card for card, _ in places(found)}


def pool(**changes):
    return config(p5_group(**changes)).architecture.node_groups["p5"]


def test_a_pool_has_the_layout_of_the_stack_file():
    p5 = instance_type("p5.48xlarge")
    assert plan_pool_interfaces(pool(), p5) == plan_interfaces(p5, "efa-only")
    efa = plan_pool_interfaces(pool(interface_layout="efa"), p5)
    assert len(places(efa, "efa")) == 32


def test_a_pool_keeps_the_slot_that_something_needs_later():
    planned = plan_pool_interfaces(pool(), instance_type("p5.48xlarge"), spare_on_card_zero=1)
    assert places(planned)[:2] == [(0, 0), (1, 0)]


def test_a_pool_without_efa_or_of_a_type_without_it_leaves_its_interface_to_ec2():
    """The review refuses `efa_enabled` for such a type together with other problems."""
    p5 = instance_type("p5.48xlarge")
    assert plan_pool_interfaces(pool(efa_enabled=False), p5) is None
    assert plan_pool_interfaces(pool(), instance_type("t3.large")) is None

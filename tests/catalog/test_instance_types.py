"""The catalog is complete and consistent; the figures are those of the matrix."""

import json

import pytest

from tests.support.instance_types import each_family
from trainyard.components.catalog.instance_types import (
    DATA_FILE,
    INSTANCE_TYPES,
    UnknownInstanceTypeError,
    instance_type,
    parse_instance_type,
)

FAMILIES = {
    *("p4d", "p4de", "p5", "p5e", "p5en", "p6-b200", "p6-b300"),
    *("g4dn", "g5", "g5g", "g6", "g6e", "g6f", "g7", "g7e"),
    *("trn1", "trn1n", "trn2", "trn2u", "inf1", "inf2"),
    *("c5", "c6i", "c6g", "c7i", "c7g", "c8g", "hpc6a", "hpc7g", "m5", "m6i", "m6g", "m7i", "m7g"),
    *("m8g", "r5", "r6i", "r7i", "r7g", "r8g", "i4i", "x2idn", "t3", "t3a", "t4g"),
}


def test_every_family_that_stacks_use_is_there():
    assert {t.family for t in INSTANCE_TYPES.values()} >= FAMILIES


@pytest.mark.parametrize(
    "name",
    ["p5.48xlarge", "p5.4xlarge", "c5.2xlarge", "m5.large", "m5.2xlarge", "m5.8xlarge", "t3.micro"],
)
def test_types_that_stacks_name_are_there(name):
    assert instance_type(name).name == name


@each_family
def test_every_field_is_filled(family):
    for found in family:
        assert found.vcpus > 0
        assert found.memory_mib > 0
        assert found.architecture in {"x86_64", "arm64"}
        assert found.ipv4_addresses_per_interface > 1
        assert found.usage_classes
        assert set(found.usage_classes) <= {"on-demand", "spot", "capacity-block"}
        assert all("-az" in zone for zone in found.zone_ids)


@each_family
def test_cards_are_numbered_and_together_hold_the_interfaces(family):
    for found in family:
        cards = found.network_cards
        assert [card.index for card in cards] == list(range(len(cards)))
        assert sum(card.maximum_interfaces for card in cards) == found.maximum_network_interfaces
        assert all("interface" in card.interface_types for card in cards)


@each_family
def test_there_are_no_more_efa_interfaces_than_cards_that_carry_them(family):
    """A4."""
    for found in family:
        with_efa = [card for card in found.network_cards if "efa" in card.interface_types]
        assert found.efa_interfaces <= len(with_efa)
        assert found.efa_supported == bool(with_efa)
        assert all("efa-only" in card.interface_types for card in with_efa)


@each_family
def test_accelerators_and_disks_are_all_or_nothing(family):
    for found in family:
        if found.accelerators:
            assert found.accelerators.count > 0
            assert found.accelerators.memory_mib > 0
            assert found.accelerators.model
        assert (found.local_nvme_disks > 0) == (found.local_nvme_gb > 0)


@pytest.mark.parametrize(
    ("name", "accelerators", "efa", "cards", "interfaces_a_card"),
    [
        ("p4d.24xlarge", 8, 4, 4, 15),
        ("p4de.24xlarge", 8, 4, 4, 15),
        ("p5.48xlarge", 8, 32, 32, 2),
        ("p5.4xlarge", 1, 1, 1, 4),
        ("p5e.48xlarge", 8, 32, 32, 2),
        ("p5en.48xlarge", 8, 16, 16, 4),
        ("p6-b200.48xlarge", 8, 8, 8, 4),
        ("p6-b300.48xlarge", 8, 16, 17, 4),
        ("trn1.32xlarge", 16, 8, 8, 5),
        ("trn1n.32xlarge", 16, 16, 16, 5),
        ("trn2.48xlarge", 16, 16, 16, 2),
        ("g4dn.8xlarge", 1, 1, 1, 4),
        ("g6e.24xlarge", 4, 2, 2, 10),
        ("g6e.48xlarge", 8, 4, 4, 10),
        ("g7e.48xlarge", 8, 4, 4, 10),
    ],
)
def test_the_figures_of_the_interface_matrix(name, accelerators, efa, cards, interfaces_a_card):
    found = instance_type(name)
    assert found.accelerators.count == accelerators
    assert found.efa_interfaces == efa
    assert len(found.network_cards) == cards
    assert {card.maximum_interfaces for card in found.network_cards} == {interfaces_a_card}


def test_card_zero_of_p6_b300_carries_no_efa():
    """A13."""
    first, *further = instance_type("p6-b300.48xlarge").network_cards
    assert first.interface_types == ("interface",)
    assert all("efa" in card.interface_types for card in further)


@pytest.mark.parametrize("name", ["p4d.24xlarge", "p5.48xlarge", "trn1.32xlarge", "trn2.48xlarge"])
def test_types_of_capacity_blocks_have_that_usage_class(name):
    """C15."""
    assert "capacity-block" in instance_type(name).usage_classes


def test_p5_is_offered_in_the_zones_of_oregon():
    assert "usw2-az2" in instance_type("p5.48xlarge").zone_ids


def test_burstable_types_cannot_launch_into_a_cluster_placement_group():
    """B4."""
    assert not instance_type("t3.large").cluster_placement_supported
    assert instance_type("p5.48xlarge").cluster_placement_supported


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        pytest.param("p5.24xlarge", "p5.48xlarge", id="size"),
        pytest.param("p5.48large", "p5.48xlarge", id="typing-error"),
        pytest.param("trn1.24xlarge", "trn1.32xlarge", id="trainium"),
    ],
)
def test_fails_for_an_unknown_type_with_the_nearest_names(name, nearest):
    with pytest.raises(UnknownInstanceTypeError) as caught:
        instance_type(name)
    assert nearest in caught.value.nearest
    assert nearest in str(caught.value)


def test_an_unknown_type_without_a_likeness_says_so_shortly():
    with pytest.raises(UnknownInstanceTypeError, match=r"^no instance type '-' is known$"):
        instance_type("-")


def test_a_type_is_made_once_of_its_record():
    assert INSTANCE_TYPES["p5.48xlarge"] is INSTANCE_TYPES["p5.48xlarge"]


def test_what_is_not_a_type_is_not_in_the_catalog():
    assert "p5.48xlarge" in INSTANCE_TYPES
    assert "p5.49xlarge" not in INSTANCE_TYPES
    assert INSTANCE_TYPES.get("p5.49xlarge") is None
    assert len(INSTANCE_TYPES) == len(list(INSTANCE_TYPES))


def test_records_that_are_read_one_by_one_are_those_of_the_whole_file():
    records = json.loads(DATA_FILE.read_text(encoding="utf-8"))["instance_types"]
    assert list(INSTANCE_TYPES) == list(records)
    for name, record in records.items():
        assert INSTANCE_TYPES[name] == parse_instance_type(name, record)


@pytest.mark.parametrize("name", ["trn2.3xlarge", "trn2.48xlarge", "trn2u.48xlarge"])
def test_a_chip_of_trainium2_has_96_gib(name):
    """EC2 reports 512 GiB for two of them; Neuron documents 96 GiB of HBM."""
    accelerators = instance_type(name).accelerators
    assert (accelerators.model, accelerators.memory_mib) == ("Trainium2", 96 * 1024)

"""The messages of refused compute environments."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.batch import P4D, P5, RAW, TRN1
from tests.support.stack_files import notes, plan_from, raw_config, refusals

NODES = "architecture__compute_environments__"
KEY = "architecture.compute_environments"


def test_a_block_says_how_many_nodes_it_holds():
    raw = raw_config(P5, **{f"{NODES}p5__minimum": 3, f"{NODES}p5__maximum": 3})
    found = refusals(raw)[f"{KEY}.p5.maximum"]
    assert "3 of 2" in found.problem
    assert "compute environments" in (found.allowed or "")
    assert found.remedy.endswith(f"{KEY}.p5.maximum' 2")


def test_environments_of_one_reservation_count_together():
    two = {"instance_type": "p4d.24xlarge", "purchase_option": "p4d", "maximum": 1}
    raw = raw_config(P4D, **{f"{NODES}other": two})
    assert "3 of 2" in refusals(raw)[f"{KEY}.other.maximum"].problem


def test_an_unused_reservation_is_a_note():
    raw = raw_config(RAW, reservations=P4D["reservations"])
    assert "reservation p4d: no compute environment uses it" in notes(raw)


def test_trainium_is_told_which_image_it_needs():
    raw = raw_config(TRN1, **{f"{NODES}trn1__image": "auto", f"{NODES}trn1__custom_ami_id": ...})
    found = refusals(raw)[f"{KEY}.trn1.image"]
    assert "Neuron" in found.problem
    assert "custom_ami_id" in found.remedy


def test_candidates_are_named_where_the_zone_is_missing():
    network = {"kind": "new-vpc", "availability_zones": ["us-west-2a", "us-west-2b"]}
    raw = raw_config(RAW, network=network, **{f"{NODES}g4dn__efa_enabled": True})
    found = refusals(raw, offered_zones={"g4dn.8xlarge": ("us-west-2a",)})
    assert found[f"{KEY}.g4dn.availability_zone"].allowed == "one zone: us-west-2a"


def test_a_zone_that_the_catalog_does_not_list_is_a_note():
    raw = raw_config(
        TRN1, **{f"{NODES}trn1__subnet_id": ..., f"{NODES}trn1__availability_zone": "usw2-az3"}
    )
    assert "compute environment trn1: trn1.32xlarge was not offered in usw2-az3" in notes(raw)


def test_a_shared_reservation_is_accepted_by_the_stack():
    share = "arn:aws:ram:us-west-2:999988887777:resource-share/01234567-89ab-cdef-0123-456789abcdef"
    raw = raw_config(P4D, reservations__p4d__resource_share_arn=share)
    assert plan_from(raw).resource_shares == {"p4d": share}


@pytest.mark.parametrize("known", [False, True])
def test_a_subnet_that_nobody_found_is_refused_once_the_account_was_asked(known: bool):
    found = refusals(P4D, subnets_known=known)
    assert set(found) == ({f"{KEY}.p4d.subnet_id"} if known else set())


def test_nodes_that_find_no_address_are_refused():
    """Each node of a multi-node job takes two addresses: its own, and the container's."""
    network: dict[str, Any] = {
        "kind": "new-vpc",
        "availability_zones": ["us-west-2b"],
        "cidr": "10.0.0.0/24",
        "public_subnet_cidrs": ["10.0.0.0/28"],
        "private_subnet_cidrs": ["10.0.0.16/28"],
    }
    raw = raw_config(
        TRN1, network=network, **{f"{NODES}trn1__subnet_id": ..., f"{NODES}trn1__maximum": 6}
    )
    assert "need 12" in refusals(raw)["network.cidr"].problem


def test_the_share_of_a_reservation_that_nobody_uses_is_not_accepted():
    share = "arn:aws:ram:us-west-2:999988887777:resource-share/01234567-89ab-cdef-0123-456789abcdef"
    shared = {**P4D["reservations"]["p4d"], "resource_share_arn": share}
    assert plan_from(raw_config(RAW, reservations={"p4d": shared})).resource_shares == {}

"""A network alone: its plan, and keys that do not belong there."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.batch import P4D, RAW
from tests.support.network_stack import NETWORK_RAW
from tests.support.stack_files import plan_from, raw_config, refusals

ZONES = [f"us-west-2{letter}" for letter in "abcdef"]
LUSTRE = {"kind": "existing-fsx-lustre", "file_system_id": "fs-0123456789abcdef0"}


def several(count: int, **network: Any) -> dict[str, Any]:
    return raw_config(
        NETWORK_RAW,
        network={
            "kind": "new-vpc",
            "availability_zones": ZONES[:count],
            "addresses": "vpc-multi-az",
            **network,
        },
    )


def test_one_zone_has_the_addresses_of_its_template():
    """VPC1-02 to VPC1-09."""
    network = plan_from(NETWORK_RAW).network
    assert network.blocks == ("10.0.0.0/16", "10.1.0.0/16")
    assert [subnet.cidr for subnet in network.subnets] == ["10.0.0.0/17", "10.1.0.0/17"]
    assert network.nat_gateways == ("public-us-west-2b",)
    assert network.flow_logs


@pytest.mark.parametrize(("zones", "blocks"), [(2, 2), (3, 3), (4, 3), (5, 4), (6, 4)])
def test_two_to_six_zones_have_those_of_theirs(zones: int, blocks: int):
    """VPCM-03, VPCM-05 to VPCM-10, VPCM-12."""
    network = plan_from(several(zones)).network
    assert len(network.blocks) == blocks
    assert len(network.public_subnets) == len(network.private_subnets) == zones
    assert len(network.nat_gateways) == 1


@pytest.mark.parametrize(
    ("endpoints", "services"),
    [(["s3", "dynamodb"], 2), (["s3"], 1), (["dynamodb"], 1), ([], 0)],
)
def test_gateway_endpoints_are_switches(endpoints: list[str], services: int):
    """VPCM-04, VPCM-16, VPCM-17, VPC1-08."""
    network = plan_from(several(2, gateway_endpoints=endpoints)).network
    assert len(network.gateway_endpoints) == services


def test_public_subnets_are_a_switch():
    """VPCM-04, VPCM-09 to VPCM-14: the template's resources if it is false."""
    network = plan_from(several(3, public_subnets=False, nat_gateways="none")).network
    assert network.public_subnets == network.nat_gateways == ()
    assert len(network.private_subnets) == 3
    assert len(network.gateway_endpoints) == 2


@pytest.mark.parametrize("closed", [{}, {"public_subnets": False}])
def test_a_network_that_nothing_leaves_says_what_lives_there_needs(closed: dict[str, Any]):
    (note,) = plan_from(several(2, nat_gateways="none", **closed)).notes
    assert "interface_endpoints" in note
    assert plan_from(several(2)).notes == ()


def test_it_has_security_groups_and_is_protected_unless_told_otherwise():
    """VPC1-10, VPC1-14, DF-04: the template for several zones has no group for EFA."""
    plan = plan_from(several(2))
    assert plan.efa_security_group
    assert plan.lustre_security_group
    assert plan.deletion_protection
    off = raw_config(NETWORK_RAW, architecture__efa_security_group=False)
    assert not plan_from(off).efa_security_group


def test_tags_name_the_stack():
    assert plan_from(NETWORK_RAW).tags == {"trainyard:cluster": "vpc-one-az"}


CASES = {
    "a VPC that exists": (raw_config(NETWORK_RAW, network=RAW["network"]), "network.kind"),
    "the network of another stack": (
        raw_config(NETWORK_RAW, network={"kind": "stack-reference", "stack": "vpc-multi-az"}),
        "network.kind",
    ),
    "more zones than addresses": (
        raw_config(NETWORK_RAW, network__availability_zones=ZONES[:2]),
        "network.availability_zones",
    ),
    "a zone twice": (
        several(2, availability_zones=["us-west-2a", "us-west-2a"]),
        "network.availability_zones",
    ),
    "a zone of another region": (
        several(2, availability_zones=["us-west-2a", "us-east-1a"]),
        "network.availability_zones",
    ),
    "a file system": (raw_config(NETWORK_RAW, storage={"fsx": LUSTRE}), "storage.fsx"),
    "a reservation": (
        raw_config(NETWORK_RAW, reservations=P4D["reservations"]),
        "reservations.p4d",
    ),
    "a tag of AWS's own": (raw_config(NETWORK_RAW, tags={"aws:team": "x"}), "tags"),
    "a name from which too long ones follow": (raw_config(NETWORK_RAW, name="v" * 60), "name"),
}


@pytest.mark.parametrize(("raw", "key"), CASES.values(), ids=CASES)
def test_what_does_not_belong_there_is_refused(raw: dict[str, Any], key: str):
    found = refusals(raw)
    assert set(found) == {key}
    assert found[key].remedy

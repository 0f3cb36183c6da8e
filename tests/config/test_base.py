"""The forms of ids and names, each against what AWS really gives."""

import pytest
from pydantic import TypeAdapter, ValidationError

from components.catalog.instance_types import INSTANCE_TYPES
from components.config.base import (
    ClusterName,
    InstanceTypeName,
    Ipv4Cidr,
    NodePoolName,
    ReservationId,
    SubnetId,
    VpcId,
    Zone,
    same_kind_of_zone,
)

GOOD = [
    (ReservationId, "cr-0123456789abcdef0"),
    (VpcId, "vpc-0123456789abcdef0"),
    (VpcId, "vpc-1a2b3c4d"),
    (SubnetId, "subnet-0123456789abcdef0"),
    (Zone, "us-west-2b"),
    (Zone, "us-gov-east-1a"),
    (Zone, "us-west-2-lax-1a"),
    (Zone, "usw2-az2"),
    (Zone, "usw2-lax1-az1"),
    (ClusterName, "p5-cb"),
    (NodePoolName, "p5_2"),
    (Ipv4Cidr, "10.0.0.0/16"),
]
BAD = [
    (ReservationId, "cr-0123456789abcdef"),
    (ReservationId, "cr-0123456789ABCDEF0"),
    (ReservationId, "crr-0123456789abcdef0"),
    (VpcId, "subnet-0123456789abcdef0"),
    (VpcId, "vpc-0123456789abcdef0\n"),
    (SubnetId, "subnet-REPLACE-ME"),
    (Zone, "us-west-2"),
    (Zone, "b"),
    (ClusterName, "-p5"),
    (ClusterName, ""),
    (NodePoolName, "g" * 64),
    (InstanceTypeName, "p5"),
    (Ipv4Cidr, "10.0.0.0/33"),
    (Ipv4Cidr, "10.0.0.1/16"),
]


@pytest.mark.parametrize(("form", "value"), GOOD, ids=[value for _, value in GOOD])
def test_accepts(form, value):
    assert TypeAdapter(form).validate_python(value) == value


@pytest.mark.parametrize(("form", "value"), BAD, ids=[repr(value) for _, value in BAD])
def test_refuses(form, value):
    with pytest.raises(ValidationError, match="is not"):
        TypeAdapter(form).validate_python(value)


def test_every_zone_id_and_type_of_the_catalog_has_the_form():
    zones = {zone for found in INSTANCE_TYPES.values() for zone in found.zone_ids}
    for zone in zones:
        TypeAdapter(Zone).validate_python(zone)
    for name in INSTANCE_TYPES:
        TypeAdapter(InstanceTypeName).validate_python(name)


def test_the_schema_for_editors_has_pattern_and_example():
    schema = TypeAdapter(ReservationId).json_schema()
    assert schema["pattern"] == "^cr-[0-9a-f]{17}$"
    assert schema["examples"] == ["cr-0123456789abcdef0"]


def test_a_zone_name_and_a_zone_id_are_of_different_kinds():
    assert same_kind_of_zone("us-west-2a", "us-west-2b")
    assert not same_kind_of_zone("us-west-2a", "usw2-az1")

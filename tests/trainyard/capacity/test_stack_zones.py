"""The subnet that nodes of a stack get in the zone of an offering."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

from trainyard.capacity.stack_entry import stack_zones


def subnet(name: str, zone: str, free: int) -> dict[str, Any]:
    return {
        "SubnetId": name,
        "VpcId": "vpc-1",
        "AvailabilityZone": f"us-west-2{zone}",
        "AvailabilityZoneId": f"usw2-{zone}",
        "CidrBlock": "10.0.0.0/20",
        "AvailableIpAddressCount": free,
    }


def test_of_several_subnets_in_a_zone_the_one_with_most_free_addresses_is_shown() -> None:
    """As in the plan of a node pool."""
    found = [subnet("small", "b", 20), subnet("large", "b", 4000), subnet("full", "b", 0)]
    ids = [each["SubnetId"] for each in found]
    said = {"ec2:DescribeSubnets": {"Subnets": found}}
    reader: Any = SimpleNamespace(ask=lambda call, *_, **__: said.get(call), ec2=MagicMock())
    config: Any = SimpleNamespace(network=SimpleNamespace(private_subnet_ids=ids))
    zones = stack_zones(reader, config)

    def shown(zone: str, zone_id: str) -> str:
        offering: Any = SimpleNamespace(zone=zone, zone_id=zone_id)
        return zones.text(offering)

    assert shown("us-west-2b", "usw2-b") == "large"
    assert shown("us-west-2a", "usw2-b") == "large"
    assert shown("us-west-2c", "usw2-c") == "none"

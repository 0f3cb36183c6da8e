"""The subnet that nodes of a stack get in the zone of an offering."""

from __future__ import annotations

from ipaddress import IPv4Network
from types import SimpleNamespace
from typing import Any

from trainyard.capacity.stack_entry import stack_zones
from trainyard.components.account.facts import SubnetFacts


def subnet(name: str, zone: str, free: int) -> SubnetFacts:
    return SubnetFacts(
        subnet_id=name,
        vpc_id="vpc-1",
        availability_zone=f"us-west-2{zone}",
        zone_id=f"usw2-{zone}",
        cidr=IPv4Network("10.0.0.0/20"),
        free_addresses=free,
        default_route=None,  # pyright: ignore[reportArgumentType]
    )


def test_of_several_subnets_in_a_zone_the_one_with_most_free_addresses_is_shown() -> None:
    """As in the plan of a node pool."""
    found = [subnet("small", "b", 20), subnet("large", "b", 4000), subnet("full", "b", 0)]
    ids = [each.subnet_id for each in found]
    reader: Any = SimpleNamespace(subnets=lambda _: dict(zip(ids, found, strict=True)))
    config: Any = SimpleNamespace(network=SimpleNamespace(private_subnet_ids=ids))
    zones = stack_zones(reader, config)

    def shown(zone: str, zone_id: str) -> str:
        offering: Any = SimpleNamespace(zone=zone, zone_id=zone_id)
        return zones.text(offering)

    assert shown("us-west-2b", "usw2-b") == "large"
    assert shown("us-west-2a", "usw2-b") == "large"
    assert shown("us-west-2c", "usw2-c") == "none"

"""The zones of a new VPC that offer an instance type."""

from __future__ import annotations

from components.account.facts import AccountFacts
from components.config.network import NewVpc
from components.config.stack import StackConfig


def offered_zones(config: StackConfig, facts: AccountFacts) -> dict[str, tuple[str, ...]]:
    """Return the zones of a new VPC that offer an instance type, by type."""
    if not isinstance(config.network, NewVpc) or not facts.zones:
        return {}
    zones = {zone: facts.zone(zone) for zone in config.network.availability_zones}
    return {
        instance_type: tuple(
            zone for zone, found in zones.items() if found and found.zone_id in offered
        )
        for instance_type, offered in facts.offered_zone_ids.items()
    }

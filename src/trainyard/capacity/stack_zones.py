"""In which zones nodes of a stack can launch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainyard.components.account.lookup import AccountReader
from trainyard.components.config.network import NewVpc

if TYPE_CHECKING:
    from trainyard.capacity.offerings import Offering
    from trainyard.components.config.load import AnyStackConfig


@dataclass(frozen=True, slots=True)
class StackZones:
    """The zones of a stack's network."""

    subnets: Mapping[str, str]
    """Private subnets by the name and by the id of their zone; of a VPC that the stack creates,
    `a new subnet`."""

    def text(self, offering: Offering) -> str:
        """Return the subnet in the zone of an offering, or that there is none."""
        return self.subnets.get(offering.zone) or self.subnets.get(offering.zone_id) or "none"


def stack_zones(reader: AccountReader, config: AnyStackConfig) -> StackZones:
    """Return the zones in which nodes of a stack can launch.

    Raises:
        AccountUnreachableError: no credentials, or no answer.
    """
    network = config.network
    if isinstance(network, NewVpc):
        return StackZones(dict.fromkeys(network.availability_zones, "a new subnet"))
    found = reader.subnets(network.private_subnet_ids)
    # The subnet with most free addresses wins, as in the plan of a node pool.
    fullest_last = sorted(found.values(), key=lambda each: each.free_addresses)
    names = {each.availability_zone: each.subnet_id for each in fullest_last}
    return StackZones({**names, **{each.zone_id: each.subnet_id for each in fullest_last}})

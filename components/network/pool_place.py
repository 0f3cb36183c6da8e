"""What the plans of the node pools of a stack share, and where each pool launches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Generic, TypeVar

from trainyard.components.capacity.plan import CapacityPlan
from trainyard.components.capacity.purchase import plan_capacity
from trainyard.components.config.reservations import Reservation
from trainyard.components.config.stack import StackConfig
from trainyard.components.network.network_plan import NetworkPlan

Config = TypeVar("Config", bound=StackConfig)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanContext(Generic[Config]):
    """Values that the plans and reviews of all node pools of a stack share."""

    config: Config
    network: NetworkPlan
    region: str
    now: datetime
    """Timezone-aware."""
    subnets_known: bool = False
    """Whether the account was queried, so that unknown values stay unknown."""
    offered_zones: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Zones of a new VPC that offer an instance type, by type, if the account was queried."""
    without_subnet: frozenset[str] = frozenset()
    """Pools in whose zone an existing VPC has no private subnet, by `launch_key`.

    The account checks refuse them."""
    log_groups: Mapping[str, int] = field(default_factory=dict[str, int])
    """Log groups that the stack adopts: days to keep their events, by name; 0 is forever."""
    _places: dict[str, PoolPlace] = field(
        init=False, repr=False, compare=False, default_factory=dict[str, "PoolPlace"]
    )

    def place(self, key: str) -> PoolPlace:
        """Return where the pools with a `launch_key` launch, such as the resources of a queue.

        Raises:
            KeyError: the stack file has no pool there.
        """
        return self.places()[key]

    def capacity(self, purchase_option: str, place: PoolPlace) -> CapacityPlan:
        """Return the capacity plan of nodes that launch at a place."""
        capacity = plan_capacity(purchase_option, self.config.reservations)
        return replace(capacity, availability_zone=capacity.availability_zone or place.zone)

    def places(self) -> Mapping[str, PoolPlace]:
        """Return where all pools launch, by `launch_key`, in the order of the stack file."""
        if not self._places:
            self._places.update(self._found_places())
        return self._places

    def _found_places(self) -> dict[str, PoolPlace]:
        architecture = self.config.architecture
        found: dict[str, PoolPlace] = {}
        for pool in architecture.pools():
            known = found.get(pool.launch_key)
            reservation = self.config.reservations.get(pool.purchase_option)
            found[pool.launch_key] = PoolPlace(
                name=f"{architecture.PLACE_NOUN} {pool.launch_key.rpartition('.')[2]}",
                key=pool.subnet_key.rpartition(".")[0],
                launch_key=pool.launch_key,
                availability_zone=pool.availability_zone,
                subnet_ids=pool.subnet_ids,
                subnet_key=pool.subnet_key,
                reservations={
                    **(known.reservations if known else {}),
                    **({pool.purchase_option: reservation} if reservation else {}),
                },
                network=self.network,
            )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolPlace:
    """The settings that decide where the nodes of one pool or queue launch."""

    name: str
    """For messages: `node group p5`."""
    key: str
    """Key in the stack file, relative to `trainyard:cluster`."""
    launch_key: str
    """That of its pools."""
    availability_zone: str | None
    """Zone in the stack file, by name or id."""
    subnet_ids: tuple[str, ...]
    """Subnets in the stack file; empty if not set."""
    subnet_key: str
    """Key of those."""
    reservations: Mapping[str, Reservation]
    """Reservations that the nodes launch into, by purchase option."""
    network: NetworkPlan

    @property
    def zone(self) -> str | None:
        """The zone that the nodes must launch in, by name or id; None if not set.

        Subnets are set per queue, so the zone of one compute resource's reservation applies to the
        whole queue.
        """
        reserved = (each.availability_zone for each in self.reservations.values())
        zones = (self.availability_zone, *reserved)
        return next((zone for zone in zones if zone is not None), None)

    @property
    def subnets(self) -> tuple[str, ...]:
        """The private subnets of the nodes: the configured ones, the one in their zone, or all.

        Only the account knows the zones of an existing VPC; the subnets are then filled in.
        """
        if self.subnet_ids:
            return self.subnet_ids
        private = self.network.private_subnets
        in_zone = tuple(s.name for s in private if self.zone and s.availability_zone == self.zone)
        return in_zone or self.network.private_names

    @property
    def one_zone(self) -> bool:
        """Whether all nodes launch in one zone, even if the zone is unknown.

        A reservation by id is in one zone; a group of reservations can span several.
        """
        if self.subnet_ids:
            return len(self.subnet_ids) == 1
        return (
            self.zone is not None
            or len(self.network.private_subnets) == 1
            or any(each.kind != "odcr-group" for each in self.reservations.values())
        )

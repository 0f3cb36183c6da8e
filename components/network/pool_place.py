"""Where the nodes of a pool launch, for EKS node groups and Batch."""

from __future__ import annotations

from dataclasses import dataclass

from components.config.node_pool import NodePool
from components.config.reservations import Reservation
from components.network.network_plan import NetworkPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolPlace:
    """The settings that decide where the nodes of one pool launch."""

    name: str
    """For messages: `node group p5`."""
    key: str
    """Key in the stack file, relative to `trainyard:cluster`."""
    pool: NodePool
    reservation: Reservation | None
    """None without a reservation."""
    network: NetworkPlan

    @property
    def zone(self) -> str | None:
        """The zone that the pool must launch in, by name or id; None if not set."""
        reserved = self.reservation.availability_zone if self.reservation else None
        return self.pool.availability_zone or reserved

    @property
    def subnets(self) -> tuple[str, ...]:
        """The private subnets of the pool: the configured one, the one in its zone, or all.

        Only the account knows the zones of an existing VPC; `subnet_id` is then filled in.
        """
        if self.pool.subnet_id is not None:
            return (self.pool.subnet_id,)
        private = self.network.private_subnets
        in_zone = tuple(s.name for s in private if self.zone and s.availability_zone == self.zone)
        return in_zone or self.network.private_names

    @property
    def reserved_in_one_zone(self) -> bool:
        """Whether the pool uses a reservation by id, which is in one zone."""
        return self.reservation is not None and self.reservation.kind != "odcr-group"

    @property
    def one_zone(self) -> bool:
        """Whether all nodes launch in one zone, even if the zone is unknown."""
        return (
            self.pool.subnet_id is not None
            or self.zone is not None
            or len(self.network.private_subnets) == 1
            or self.reserved_in_one_zone
        )

"""Where the nodes of a pool launch: decided once, for EKS node groups and Batch alike."""

from __future__ import annotations

from dataclasses import dataclass

from components.config.node_pool import NodePool
from components.config.reservations import Reservation
from components.network.network_plan import NetworkPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolPlace:
    """What decides where the nodes of one pool launch."""

    name: str
    """For people: `node group p5`."""
    key: str
    """Its place in the stack file, relative to `trainyard:cluster`."""
    pool: NodePool
    reservation: Reservation | None
    """None for open capacity."""
    network: NetworkPlan

    @property
    def zone(self) -> str | None:
        """The zone that the pool must launch in, by name or by id; None where not said."""
        reserved = self.reservation.availability_zone if self.reservation else None
        return self.pool.availability_zone or reserved

    @property
    def subnets(self) -> tuple[str, ...]:
        """The private subnets of the pool: the named one, that of its zone, or all.

        The zones of an existing VPC only the account knows; it has filled in `subnet_id` then.
        """
        if self.pool.subnet_id is not None:
            return (self.pool.subnet_id,)
        private = self.network.private_subnets
        in_zone = tuple(s.name for s in private if self.zone and s.availability_zone == self.zone)
        return in_zone or self.network.private_names

    @property
    def reserved_in_one_zone(self) -> bool:
        """Whether a reservation by id holds the nodes: it lies in one zone."""
        return self.reservation is not None and self.reservation.kind != "odcr-group"

    @property
    def one_zone(self) -> bool:
        """Whether all nodes launch in one zone, whether or not it is known which."""
        return (
            self.pool.subnet_id is not None
            or self.zone is not None
            or len(self.network.private_subnets) == 1
            or self.reserved_in_one_zone
        )

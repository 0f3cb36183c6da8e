"""Node pools of all architectures, such as EKS node groups and Slurm compute resources.

Checks of reservations, zones and instance types use them and do not depend on the architecture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainyard.components.config.node_pool import NodePool, Placement


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Nodes of one instance type and purchase option."""

    name: str
    """For messages: the node group, or the queue and the compute resource."""
    key: str
    """Key in the stack file, relative to `trainyard:cluster`."""
    launch_key: str
    """Section and name of what has its zone and subnet: the pool itself, or its queue. For nodes in
    `further_blocks`, this is no key in the stack file."""
    instance_type: str
    purchase_option: str
    """Value in the stack file."""
    wanted: int
    """Number of nodes that must fit into the reservation, together with other pools."""
    wanted_key: str
    """Key of that number."""
    least: int
    """Minimum of that number."""
    maximum: int
    at_once: int
    """Number of nodes whose launch EC2 must accept during `up`."""
    at_once_keys: tuple[str, ...]
    """Keys to set to 0 so that `up` launches none; empty if it always tries to."""
    efa_enabled: bool
    placement: Placement
    availability_zone: str | None
    subnet_ids: tuple[str, ...]
    """Subnets in the stack file; empty if not set."""
    subnet_key: str
    """Key of those subnets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnNodes:
    """Nodes of an architecture outside of its pools, such as the head node."""

    key: str
    """Key in the stack file, relative to `trainyard:cluster`."""
    instance_type: str
    availability_zone: str | None = None
    """None if they launch in every zone of the network."""
    first_zone_only: bool = False
    """Whether nodes without a zone launch in the first zone of a new VPC only."""
    zone_remedy: str
    """The fix if EC2 does not offer the instance type in the zone."""


def pool_of(
    key: str,
    name: str,
    pool: NodePool,
    *,
    wanted: int,
    wanted_key: str,
    least: int,
    maximum: int,
    at_once: int,
    at_once_keys: tuple[str, ...],
) -> Pool:
    """Return the pool of a node group or compute environment, which has its own subnet.

    Args:
        key: Key of the section of the pools in the stack file, relative to `trainyard:cluster`.
        name: Name of the pool.
        pool: The pool.
        wanted: Number of nodes that must fit into the reservation.
        wanted_key: Key of that number in the pool.
        least: Minimum of that number.
        maximum: Maximum number of nodes.
        at_once: Number of nodes that `up` launches.
        at_once_keys: Keys of that number in the pool.
    """
    own = f"{key}.{pool.pool_named(name)}"
    return Pool(
        name=name,
        key=own,
        launch_key=f"{key}.{name}",
        instance_type=pool.instance_type,
        purchase_option=pool.purchase_option,
        wanted=wanted,
        wanted_key=f"{own}.{wanted_key}",
        least=least,
        maximum=maximum,
        at_once=at_once,
        at_once_keys=tuple(f"{own}.{each}" for each in at_once_keys),
        efa_enabled=pool.efa_enabled,
        placement=pool.placement,
        availability_zone=pool.availability_zone,
        subnet_ids=(pool.subnet_id,) if pool.subnet_id else (),
        subnet_key=f"{own}.subnet_id",
    )

"""Node pools of all architectures, such as EKS node groups and Slurm compute resources.

Checks of reservations, zones and instance types use them and do not depend on the architecture.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from components.config.reservations import CapacityBlock
from components.config.stack import StackConfig
from components.config.stack_models import is_batch, is_eks, is_parallelcluster

if TYPE_CHECKING:
    from components.config.batch import BatchArchitecture
    from components.config.eks import EksArchitecture
    from components.config.parallelcluster import ParallelClusterArchitecture


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Nodes of one instance type and purchase option."""

    name: str
    """For messages: the node group, or the queue and the compute resource."""
    key: str
    """Key in the stack file, relative to `trainyard:cluster`."""
    launch_key: str
    """Key of its zone and subnet: the pool itself, or its queue."""
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
    efa_enabled: bool
    availability_zone: str | None
    subnet_ids: tuple[str, ...]
    """Subnets in the stack file; empty if not set."""
    subnet_key: str
    """Key of those."""


_NOUNS = {
    "eks": "node group",
    "parallelcluster": "compute resource",
    "batch": "compute environment",
    "network": "node",
}


def pool_noun(config: StackConfig) -> str:
    """Return the term for a node pool in the stack's architecture."""
    return _NOUNS[config.architecture.kind]


def pools(config: StackConfig) -> tuple[Pool, ...]:
    """Return the node pools for workloads, sorted by name."""
    if is_eks(config):
        return _node_groups(config.architecture)
    if is_parallelcluster(config):
        return _compute_resources(config.architecture)
    if is_batch(config):
        return _compute_environments(config.architecture)
    return ()


def resource_shares(config: StackConfig) -> dict[str, str]:
    """Return the RAM shares to accept before nodes launch, by the name of their reservation."""
    used = {pool.purchase_option for pool in pools(config)}
    shares = {
        name: reservation.resource_share_arn
        for name, reservation in config.reservations.items()
        if name in used and not isinstance(reservation, CapacityBlock)
    }
    return {name: arn for name, arn in shares.items() if arn is not None}


def _node_groups(architecture: EksArchitecture) -> tuple[Pool, ...]:
    return tuple(
        Pool(
            name=name,
            key=f"architecture.node_groups.{name}",
            launch_key=f"architecture.node_groups.{name}",
            instance_type=group.instance_type,
            purchase_option=group.purchase_option,
            wanted=group.desired,
            wanted_key=f"architecture.node_groups.{name}.desired",
            least=0,
            maximum=group.maximum,
            efa_enabled=group.efa_enabled,
            availability_zone=group.availability_zone,
            subnet_ids=(group.subnet_id,) if group.subnet_id else (),
            subnet_key=f"architecture.node_groups.{name}.subnet_id",
        )
        for name, group in architecture.node_groups.items()
    )


def _compute_resources(architecture: ParallelClusterArchitecture) -> tuple[Pool, ...]:
    return tuple(
        Pool(
            name=f"{queue_name}/{name}",
            key=f"architecture.queues.{queue_name}.compute_resources.{name}",
            launch_key=f"architecture.queues.{queue_name}",
            instance_type=resource.instance_type,
            purchase_option=resource.purchase_option or queue.purchase_option,
            # ParallelCluster requires that the maximum fits (CapacityReservationSizeValidator).
            wanted=resource.maximum,
            wanted_key=f"architecture.queues.{queue_name}.compute_resources.{name}.maximum",
            least=1,
            maximum=resource.maximum,
            efa_enabled=resource.efa_enabled,
            availability_zone=queue.availability_zone,
            subnet_ids=queue.subnet_ids,
            subnet_key=f"architecture.queues.{queue_name}.subnet_ids",
        )
        for queue_name, queue in architecture.queues.items()
        for name, resource in queue.compute_resources.items()
    )


def _compute_environments(architecture: BatchArchitecture) -> tuple[Pool, ...]:
    return tuple(
        Pool(
            name=name,
            key=f"architecture.compute_environments.{name}",
            launch_key=f"architecture.compute_environments.{name}",
            instance_type=environment.instance_type,
            purchase_option=environment.purchase_option,
            # A job on all nodes waits forever if the reservation has fewer.
            wanted=environment.maximum,
            wanted_key=f"architecture.compute_environments.{name}.maximum",
            least=1,
            maximum=environment.maximum,
            efa_enabled=environment.efa_enabled,
            availability_zone=environment.availability_zone,
            subnet_ids=(environment.subnet_id,) if environment.subnet_id else (),
            subnet_key=f"architecture.compute_environments.{name}.subnet_id",
        )
        for name, environment in architecture.compute_environments.items()
    )

"""What `init` writes into a stack file: the complete choices of the user.

A value that only the account knows is `None` if the account was not read. The stack file leaves its
key out, and `check` prints the command that sets it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from trainyard.components.config.fsx_lustre import SMALLEST_GIB, SSD_STEP_GIB, CapacityRule
from trainyard.components.eks.cluster_review import MINIMUM_CONTROL_PLANE_ZONES, ZONES_WITHOUT_EKS

Kind = Literal["eks", "slurm", "batch", "network"]
Purchase = Literal["on-demand", "odcr", "capacity-block"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KindFacts:
    """What `init` asks for a stack of a kind, and where it writes the answers."""

    explanation: str
    architecture: str
    """`architecture.kind` of its stack files."""
    pools: tuple[str, ...] = ()
    """Where its node pools are, below `trainyard:cluster`; empty for a network, which has none."""
    has_compute_resources: bool = False
    """Whether the nodes of a pool are in a section of it, as in a queue of Slurm."""
    control_plane_zones: int = 0
    """Number of zones in which its control plane needs subnets."""
    excluded_zones: frozenset[str] = frozenset()
    """Ids of the zones in which it cannot have subnets."""
    has_api: bool = False
    """Whether it has a Kubernetes API, which some networks reach."""
    has_head_node: bool = False
    """Whether users log in to a head node, which then has the key pair; otherwise to the nodes."""
    file_systems: Mapping[str, str] = field(default_factory=dict[str, str])
    """Kinds of `storage` that its nodes can mount, and where; empty where the file says nothing."""
    places_file_systems: bool = False
    """Whether a new file system has an `availability_zone` of its own."""
    is_static_in_blocks: bool = False
    """Whether nodes of a Capacity Block are static: minimum and maximum are the same."""


KINDS: Mapping[str, KindFacts] = {
    "eks": KindFacts(
        explanation="a Kubernetes cluster on Amazon EKS",
        architecture="eks",
        pools=("architecture", "node_groups"),
        control_plane_zones=MINIMUM_CONTROL_PLANE_ZONES,
        excluded_zones=ZONES_WITHOUT_EKS,
        has_api=True,
        file_systems={"fsx-lustre": "", "existing-fsx-lustre": ""},
        places_file_systems=True,
    ),
    "slurm": KindFacts(
        explanation="a Slurm cluster that AWS ParallelCluster creates",
        architecture="parallelcluster",
        pools=("architecture", "queues"),
        has_compute_resources=True,
        has_head_node=True,
        file_systems={
            "fsx-lustre": "/fsx",
            "existing-fsx-lustre": "/fsx",
            "existing-efs": "/efs",
        },
        is_static_in_blocks=True,
    ),
    "batch": KindFacts(
        explanation="container jobs on AWS Batch",
        architecture="batch",
        pools=("architecture", "compute_environments"),
    ),
    "network": KindFacts(explanation="a VPC for other stacks", architecture="network"),
}
"""The kinds of stacks, as a user calls them."""
NEW_VPC = "new"
"""The value of `--vpc` for a VPC that the stack creates."""
PRIVATE = "private"
"""The value of `--api-networks` for a Kubernetes API that only the VPC reaches."""
EVERYBODY = "0.0.0.0/0"
"""The network of `--api-networks` with which every network reaches the Kubernetes API."""
LUSTRE_THROUGHPUT = 250
"""MB/s for each TiB of a new Lustre file system, as in the stack pc-gpu."""
LUSTRE_RULE = CapacityRule((SMALLEST_GIB,), SSD_STEP_GIB)
"""Capacities of a new Lustre file system, which is PERSISTENT_2 on SSD."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InitRequest:
    """The options of the command; what is empty or None was not given."""

    name: str
    example: str = ""
    """A shipped stack, such as `p5-cb`."""
    kind: str = ""
    region: str = ""
    profile: str = ""
    vpc: str = ""
    """The id of a VPC, or `new`."""
    subnets: tuple[str, ...] = ()
    reservations: tuple[str, ...] = ()
    instance_types: tuple[str, ...] = ()
    nodes: tuple[int, ...] = ()
    """One number for every node pool, or one for each."""
    key_pair: str = ""
    file_system: str = ""
    lustre_gib: int | None = None
    api_networks: tuple[str, ...] = ()
    """Networks that reach the Kubernetes API, or `private`."""
    sandbox: bool = False

    def nodes_at(self, index: int) -> int | None:
        """Return the number of nodes of a pool, or None if it was not given."""
        if len(self.nodes) == 1:
            return self.nodes[0]
        return self.nodes[index] if index < len(self.nodes) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReservedNodes:
    """An entry of `reservations`."""

    kind: Purchase
    reservation_id: str | None
    zone: str | None = None
    """Name of the zone."""
    instance_count: int | None = None
    placement_group: str | None = None
    """Name of an own placement group in which the reservation was created."""
    aws_assisted: bool = False
    """Whether the reservation is in a placement group of another account."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolDesign:
    """A node group, a queue or a compute environment."""

    instance_type: str
    nodes: int
    reserved: ReservedNodes | None = None
    """None for On-Demand nodes."""
    zone: str | None = None
    """Name or id of the zone of On-Demand nodes."""
    example_pool: str = ""
    """The pool of the example that it is, if it is kept; empty for a pool of the user's own."""

    @property
    def purchase(self) -> Purchase:
        """How the nodes are bought."""
        return self.reserved.kind if self.reserved is not None else "on-demand"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkDesign:
    """The section `network`."""

    kind: Literal["existing-vpc", "new-vpc"]
    vpc_id: str | None = None
    public_subnet_ids: tuple[str, ...] | None = None
    private_subnet_ids: tuple[str, ...] | None = None
    zones: tuple[str, ...] | None = None
    """Zones of a new VPC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageDesign:
    """One entry of `storage`."""

    kind: Literal["fsx-lustre", "existing-fsx-lustre", "existing-efs"]
    file_system_id: str | None = None
    capacity_gib: int | None = None
    zone: str | None = None
    """Zone of a new file system, if the node pools are in several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StackDesign:
    """Everything that a new stack file says beyond its example."""

    name: str
    example: str
    kind: Kind
    region: str
    profile: str
    pools: tuple[PoolDesign, ...]
    network: NetworkDesign
    api_networks: tuple[str, ...]
    """Networks that reach the Kubernetes API, or `private`; empty for other kinds than EKS."""
    storage: StorageDesign | None
    """None for the storage of the example."""
    key_pair: str

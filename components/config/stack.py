"""The root of the configuration: the fields that stacks of every architecture have.

The models of an architecture are in modules of their own (`eks_stack` and so on), of which only the
stack's own is imported. Shared code reads what `Architecture` has.
"""

from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import Field

from trainyard.components.config.base import ClusterName, NodePoolName, StrictModel
from trainyard.components.config.block_pools import BlockPools
from trainyard.components.config.budget import Budget
from trainyard.components.config.monitoring import NodeMetrics, StackMonitoring
from trainyard.components.config.network import Network, PlacedNetwork
from trainyard.components.config.policies import RuleName, RuleSettings
from trainyard.components.config.pools import OwnNodes, Pool
from trainyard.components.config.reservations import CapacityBlock, Reservation
from trainyard.components.config.storage import FileSystem
from trainyard.components.config.text import Line, TagKey
from trainyard.components.config.verification import Verification


class Architecture(StrictModel):
    """What shared code reads of an architecture."""

    POOL_NOUN: ClassVar[str] = "node"
    """Term for a node pool, for messages: `node group`."""
    PLACE_NOUN: ClassVar[str] = "network"
    """Term for the section that has `availability_zone`, for messages: `node group`, `queue`."""

    ACCEPTS_SHARES: ClassVar[bool] = True
    """Whether the stack accepts resource shares of reservations."""
    BLOCK_STARTS: ClassVar[str] = ""
    """What happens when a Capacity Block starts, for timelines."""
    BLOCK_DRAINS: ClassVar[str | None] = None
    """What the scheduler does before EC2 terminates the nodes of a Capacity Block, for timelines;
    None if it does nothing."""
    CAN_REQUIRE_VERIFICATION: ClassVar[bool] = False
    """Whether nodes can be closed to jobs until `verify` passes."""

    if TYPE_CHECKING:
        kind: Any
        """Name of the architecture; each model has a literal."""

    @property
    def node_system(self) -> str:
        """Operating system of the nodes: `Amazon Linux`, or one of ParallelCluster."""
        return "Amazon Linux"

    def pools(self) -> tuple[Pool, ...]:
        """Return the node pools for workloads, sorted by name."""
        return ()

    def in_every_block(self, blocks: BlockPools) -> Self:
        """Return the architecture with separate node pools for `further_blocks`."""
        return self

    def own_nodes(self) -> tuple[OwnNodes, ...]:
        """Return the nodes outside of the pools."""
        return ()

    def key_names(self) -> frozenset[str]:
        """Return the names of the key pairs in the stack file."""
        return frozenset()

    def image_ids(self) -> tuple[str, ...]:
        """Return the ids of the AMIs in the stack file."""
        return ()


class StackConfig(StrictModel):
    """The fields of every stack; each architecture adds `architecture`."""

    name: ClusterName
    """Name of the cluster, and prefix of the names of all resources in the stack. Changing it
    replaces the cluster."""
    tags: dict[TagKey, Line] = Field(default_factory=dict)
    """Tags of all resources, by key."""
    network: Network
    """The network."""
    reservations: dict[NodePoolName, Reservation] = Field(default_factory=dict)
    """Capacity reservations, by the name that `purchase_option` uses."""
    storage: dict[NodePoolName, FileSystem] = Field(default_factory=dict)
    """File systems, by name."""
    monitoring: StackMonitoring | None = None
    """Dashboard and alarms. If omitted, the stack has neither."""
    verification: Verification = Verification.defaults()
    """Thresholds of `verify`, and whether nodes must pass it."""
    budget: Budget | None = None
    """The most that the stack may cost. If omitted, there is no limit."""
    policies: dict[RuleName, RuleSettings] = Field(default_factory=dict)
    """Exceptions from rules of the policy pack, by the rule names in `docs/policies.md`."""

    if TYPE_CHECKING:
        architecture: Architecture

    @property
    def node_metrics(self) -> NodeMetrics | None:
        """Where nodes with accelerators or EFA send their metrics; None if they send none."""
        return self.monitoring.node_metrics if self.monitoring else None

    def pools(self) -> tuple[Pool, ...]:
        """Return the node pools for workloads, sorted by name."""
        return self.architecture.pools()

    def pools_with(self, purchase_option: str) -> tuple[Pool, ...]:
        """Return the node pools with a purchase option: the users of a reservation of that name."""
        return tuple(pool for pool in self.pools() if pool.purchase_option == purchase_option)

    def used_reservations(self) -> dict[str, Reservation]:
        """Return the reservations that nodes launch into, by their names."""
        used = {pool.purchase_option for pool in self.pools()}
        return {name: each for name, each in self.reservations.items() if name in used}

    def resource_shares(self) -> dict[str, str]:
        """Return the RAM shares to accept before nodes launch, by the name of their reservation."""
        shares = {
            name: reservation.resource_share_arn
            for name, reservation in self.used_reservations().items()
            if not isinstance(reservation, CapacityBlock)
        }
        return {name: arn for name, arn in shares.items() if arn is not None}


class PlacedStackConfig(StackConfig):
    """A validated configuration, in which a network of another stack is already resolved."""

    network: PlacedNetwork  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """The network; that of another stack is already resolved."""
    network_stack: str | None = None
    """The stack that provides the network, if the stack file names one."""

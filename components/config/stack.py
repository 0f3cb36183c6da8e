"""The root of the configuration: what stacks of every architecture say.

The models of an architecture stand beside it (`eks_stack` ...), and only those of the stack's own
are imported: what is shared asks the guards here, which go by `kind`.
"""

from typing import TYPE_CHECKING

from pydantic import Field

from components.config.base import ClusterName, Line, NodePoolName, StrictModel, TagKey
from components.config.network import Network, PlacedNetwork
from components.config.policies import RuleName, RuleSettings
from components.config.reservations import Reservation
from components.config.storage import FileSystem

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from components.config.batch_stack import BatchStackConfig
    from components.config.eks_stack import EksStackConfig
    from components.config.given_stack import Architecture
    from components.config.network_stack import NetworkStackConfig
    from components.config.parallelcluster_stack import ParallelClusterStackConfig

    AnyStackConfig = (
        EksStackConfig | ParallelClusterStackConfig | BatchStackConfig | NetworkStackConfig
    )


class StackConfig(StrictModel):
    """What stacks of every architecture say; each adds its `architecture`."""

    name: ClusterName
    """Name of the cluster and prefix of the names of everything in the stack. Changing it replaces
    the cluster."""
    tags: dict[TagKey, Line] = Field(default_factory=dict)
    """Tags of every resource, by key."""
    network: Network
    """The network."""
    reservations: dict[NodePoolName, Reservation] = Field(default_factory=dict)
    """Capacity reservations, by the name that `purchase_option` uses."""
    storage: dict[NodePoolName, FileSystem] = Field(default_factory=dict)
    """File systems, by name."""
    policies: dict[RuleName, RuleSettings] = Field(default_factory=dict)
    """Rules of the policy pack that do not fit the stack, by the names in `docs/policies.md`."""

    if TYPE_CHECKING:
        architecture: Architecture


class PlacedStackConfig(StackConfig):
    """A checked configuration, its network already looked up where it is that of another stack."""

    network: PlacedNetwork  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """The network, that of another stack already looked up."""
    network_stack: str | None = None
    """The stack whose network it is, where the stack file names one."""


def is_eks(config: StackConfig) -> "TypeIs[EksStackConfig]":
    """Return whether the architecture of a stack is EKS."""
    return config.architecture.kind == "eks"


def is_parallelcluster(config: StackConfig) -> "TypeIs[ParallelClusterStackConfig]":
    """Return whether the architecture of a stack is ParallelCluster."""
    return config.architecture.kind == "parallelcluster"


def is_batch(config: StackConfig) -> "TypeIs[BatchStackConfig]":
    """Return whether the architecture of a stack is AWS Batch."""
    return config.architecture.kind == "batch"


def is_network(config: StackConfig) -> "TypeIs[NetworkStackConfig]":
    """Return whether a stack is a network alone."""
    return config.architecture.kind == "network"

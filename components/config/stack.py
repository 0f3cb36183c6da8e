"""The root of the configuration: everything that one stack file may say."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from components.config.base import ClusterName, Line, NodePoolName, StrictModel, TagKey
from components.config.batch import BatchArchitecture
from components.config.eks import EksArchitecture
from components.config.network import Network, PlacedNetwork, StackNetwork
from components.config.network_stack import NetworkArchitecture
from components.config.parallelcluster import ParallelClusterArchitecture
from components.config.policies import RuleName, RuleSettings
from components.config.reservations import Reservation
from components.config.storage import FileSystem

Architecture = Annotated[
    EksArchitecture | ParallelClusterArchitecture | BatchArchitecture | NetworkArchitecture,
    Field(discriminator="kind"),
]


class StackConfig(StrictModel):
    """One stack: the value of `trainyard:cluster` in a stack file."""

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
    architecture: Architecture
    """What runs in the network."""


class _PlacedStackConfig(StackConfig):
    network: PlacedNetwork  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """The network, that of another stack already looked up."""
    network_stack: str | None = None
    """The stack whose network it is, where the stack file names one."""


class EksStackConfig(_PlacedStackConfig):
    """A stack whose architecture is EKS."""

    architecture: EksArchitecture  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """What runs in the network."""


class ParallelClusterStackConfig(_PlacedStackConfig):
    """A stack whose architecture is ParallelCluster."""

    architecture: ParallelClusterArchitecture  # pyright: ignore[reportIncompatibleVariableOverride]
    """What runs in the network."""


class BatchStackConfig(_PlacedStackConfig):
    """A stack whose architecture is AWS Batch."""

    architecture: BatchArchitecture  # pyright: ignore[reportIncompatibleVariableOverride]
    """What runs in the network."""


class NetworkStackConfig(_PlacedStackConfig):
    """A stack that is a network alone."""

    architecture: NetworkArchitecture  # pyright: ignore[reportIncompatibleVariableOverride]
    """What the network has besides subnets."""


AnyStackConfig = EksStackConfig | ParallelClusterStackConfig | BatchStackConfig | NetworkStackConfig
_CONFIGS: dict[type[StrictModel], type[AnyStackConfig]] = {
    EksArchitecture: EksStackConfig,
    ParallelClusterArchitecture: ParallelClusterStackConfig,
    BatchArchitecture: BatchStackConfig,
    NetworkArchitecture: NetworkStackConfig,
}


def narrowed(config: StackConfig, network: PlacedNetwork) -> AnyStackConfig:
    """Return a checked configuration as that of its architecture, so that types tell them apart.

    `network` is the configuration's own, or what its reference to another stack stands for.
    """
    fields = {name: getattr(config, name) for name in StackConfig.model_fields}
    given = config.network
    fields |= {
        "network": network,
        "network_stack": given.stack if isinstance(given, StackNetwork) else None,
    }
    return _CONFIGS[type(config.architecture)].model_construct(config.model_fields_set, **fields)

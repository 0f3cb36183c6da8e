"""The root of the configuration: everything that one stack file may say."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from components.config.base import ClusterName, NodePoolName, StrictModel, Text
from components.config.eks import EksArchitecture
from components.config.network import Network
from components.config.parallelcluster import ParallelClusterArchitecture
from components.config.reservations import Reservation
from components.config.storage import FileSystem

Architecture = Annotated[EksArchitecture | ParallelClusterArchitecture, Field(discriminator="kind")]


class StackConfig(StrictModel):
    """One stack: the value of `trainyard:cluster` in a stack file."""

    name: ClusterName
    """Name of the cluster and prefix of the names of everything in the stack. Changing it replaces
    the cluster."""
    tags: dict[Annotated[str, Field(min_length=1, max_length=128)], Text] = Field(
        default_factory=dict
    )
    """Tags of every resource, by key."""
    network: Network
    """The network."""
    reservations: dict[NodePoolName, Reservation] = Field(default_factory=dict)
    """Capacity reservations, by the name that `purchase_option` uses."""
    storage: dict[NodePoolName, FileSystem] = Field(default_factory=dict)
    """File systems, by name."""
    architecture: Architecture
    """What runs in the network."""


class EksStackConfig(StackConfig):
    """A stack whose architecture is EKS."""

    architecture: EksArchitecture  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """What runs in the network."""


class ParallelClusterStackConfig(StackConfig):
    """A stack whose architecture is ParallelCluster."""

    architecture: ParallelClusterArchitecture  # pyright: ignore[reportIncompatibleVariableOverride]
    """What runs in the network."""


AnyStackConfig = EksStackConfig | ParallelClusterStackConfig
_CONFIGS: dict[type[StrictModel], type[EksStackConfig] | type[ParallelClusterStackConfig]] = {
    EksArchitecture: EksStackConfig,
    ParallelClusterArchitecture: ParallelClusterStackConfig,
}


def narrowed(config: StackConfig) -> AnyStackConfig:
    """Return a checked configuration as that of its architecture, so that types tell them apart."""
    fields = {name: getattr(config, name) for name in StackConfig.model_fields}
    return _CONFIGS[type(config.architecture)].model_construct(config.model_fields_set, **fields)

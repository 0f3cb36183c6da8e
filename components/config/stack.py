"""The root of the configuration: everything that one stack file may say."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from components.config.base import ClusterName, NodePoolName, StrictModel, Text
from components.config.eks import EksArchitecture
from components.config.network import Network
from components.config.reservations import Reservation
from components.config.storage import FileSystem

# A union by `kind` with one member is that member; further architectures join it here.
Architecture = EksArchitecture


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

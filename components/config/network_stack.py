"""A stack with only a network. Other stacks use it by VPC id or by stack reference."""

from typing import Literal

from trainyard.components.config.stack import Architecture, PlacedStackConfig, StackConfig


class NetworkArchitecture(Architecture):
    """A VPC for other stacks."""

    kind: Literal["network"]
    """A network only."""
    efa_security_group: bool = True
    """Whether to create a security group whose members can communicate over EFA."""
    lustre_security_group: bool = True
    """Whether to create a security group for FSx for Lustre file systems."""
    deletion_protection: bool = True
    """Whether `destroy` keeps the VPC, which other stacks use."""


class GivenNetworkStack(StackConfig):
    """The file of a stack with only a network."""

    architecture: NetworkArchitecture  # pyright: ignore[reportIncompatibleVariableOverride]
    """What the stack creates in the network in addition to subnets."""


class NetworkStackConfig(PlacedStackConfig):
    """A stack with only a network."""

    architecture: NetworkArchitecture  # pyright: ignore[reportIncompatibleVariableOverride]
    """What the stack creates in the network in addition to subnets."""

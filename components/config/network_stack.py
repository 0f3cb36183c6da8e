"""A stack that is a network and nothing else: others take it by id or by stack reference."""

from typing import Literal

from components.config.stack import Architecture, PlacedStackConfig, StackConfig


class NetworkArchitecture(Architecture):
    """A VPC for other stacks to live in."""

    kind: Literal["network"]
    """A network alone."""
    efa_security_group: bool = True
    """Whether the VPC has a security group whose members reach each other over EFA."""
    lustre_security_group: bool = True
    """Whether the VPC has a security group for FSx for Lustre file systems."""
    deletion_protection: bool = True
    """Whether the VPC outlives `destroy`: other stacks live in it."""


class GivenNetworkStack(StackConfig):
    """The file of a stack that is a network alone."""

    architecture: NetworkArchitecture  # pyright: ignore[reportIncompatibleVariableOverride]
    """What the network has besides subnets."""


class NetworkStackConfig(PlacedStackConfig):
    """A stack that is a network alone."""

    architecture: NetworkArchitecture  # pyright: ignore[reportIncompatibleVariableOverride]
    """What the network has besides subnets."""

"""A stack whose architecture is EKS: the models of its file and of its plan."""

from components.config.eks import EksArchitecture
from components.config.stack import PlacedStackConfig, StackConfig


class GivenEksStack(StackConfig):
    """A stack file whose architecture is EKS."""

    architecture: EksArchitecture  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """What runs in the network."""


class EksStackConfig(PlacedStackConfig):
    """A stack whose architecture is EKS."""

    architecture: EksArchitecture  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """What runs in the network."""

"""A stack whose architecture is ParallelCluster: the models of its file and of its plan."""

from trainyard.components.config.parallelcluster import ParallelClusterArchitecture
from trainyard.components.config.stack import PlacedStackConfig, StackConfig


class GivenParallelClusterStack(StackConfig):
    """A stack file whose architecture is ParallelCluster."""

    architecture: ParallelClusterArchitecture  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """What runs in the network."""


class ParallelClusterStackConfig(PlacedStackConfig):
    """A stack whose architecture is ParallelCluster."""

    architecture: ParallelClusterArchitecture  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """What runs in the network."""

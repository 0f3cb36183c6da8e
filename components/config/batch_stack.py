"""A stack whose architecture is AWS Batch: the models of its file and of its plan."""

from trainyard.components.config.batch import BatchArchitecture
from trainyard.components.config.stack import PlacedStackConfig, StackConfig


class GivenBatchStack(StackConfig):
    """A stack file whose architecture is AWS Batch."""

    architecture: BatchArchitecture  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """What runs in the network."""


class BatchStackConfig(PlacedStackConfig):
    """A stack whose architecture is AWS Batch."""

    architecture: BatchArchitecture  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """What runs in the network."""

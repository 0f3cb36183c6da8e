"""A stack whose architecture is EKS: the models of its file and of its plan."""

from trainyard.components.config.eks import EksArchitecture
from trainyard.components.config.stack import PlacedStackConfig, StackConfig


class GivenEksStack(StackConfig):
    """A stack file whose architecture is EKS."""

    architecture: EksArchitecture  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """What runs in the network."""


class EksStackConfig(PlacedStackConfig):
    """A stack whose architecture is EKS."""

    architecture: EksArchitecture  # pyright: ignore[reportIncompatibleVariableOverride] - frozen
    """What runs in the network."""

    @property
    def uses_cloudwatch_observability(self) -> bool:
        """Whether the stack has the CloudWatch Observability add-on."""
        return (
            self.architecture.addons.cloudwatch_observability or self.node_metrics == "cloudwatch"
        )

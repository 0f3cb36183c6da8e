"""The models of a stack, by architecture; models of other architectures are not imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.config.network import PlacedNetwork, StackNetwork
from components.config.stack import StackConfig

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from components.config.batch_stack import BatchStackConfig
    from components.config.eks_stack import EksStackConfig
    from components.config.network_stack import NetworkStackConfig
    from components.config.parallelcluster_stack import ParallelClusterStackConfig

    AnyStackConfig = (
        EksStackConfig | ParallelClusterStackConfig | BatchStackConfig | NetworkStackConfig
    )


def given_model(kind: object) -> type[StackConfig]:
    """Return the model that validates a stack file.

    For an unknown kind, it is the model of all architectures, whose error lists the valid kinds.
    """
    match kind:
        case "eks":
            from components.config.eks_stack import GivenEksStack as Given
        case "parallelcluster":
            from components.config.parallelcluster_stack import GivenParallelClusterStack as Given
        case "batch":
            from components.config.batch_stack import GivenBatchStack as Given
        case "network":
            from components.config.network_stack import GivenNetworkStack as Given
        case _:
            from components.config.given_stack import GivenStack as Given
    return Given


def narrowed(config: StackConfig, network: PlacedNetwork) -> AnyStackConfig:
    """Return a validated configuration with the type of its architecture.

    `network` is that of the configuration, or the resolved network of another stack.
    """
    fields = {name: getattr(config, name) for name in type(config).model_fields}
    given = config.network
    fields |= {
        "network": network,
        "network_stack": given.stack if isinstance(given, StackNetwork) else None,
    }
    return _config_model(config).model_construct(config.model_fields_set, **fields)


def _config_model(config: StackConfig) -> type[AnyStackConfig]:
    if is_eks(config):
        from components.config.eks_stack import EksStackConfig as Config
    elif is_parallelcluster(config):
        from components.config.parallelcluster_stack import ParallelClusterStackConfig as Config
    elif is_batch(config):
        from components.config.batch_stack import BatchStackConfig as Config
    else:
        from components.config.network_stack import NetworkStackConfig as Config
    return Config


def is_eks(config: StackConfig) -> TypeIs[EksStackConfig]:
    """Return whether the architecture of a stack is EKS."""
    return config.architecture.kind == "eks"


def is_parallelcluster(config: StackConfig) -> TypeIs[ParallelClusterStackConfig]:
    """Return whether the architecture of a stack is ParallelCluster."""
    return config.architecture.kind == "parallelcluster"


def is_batch(config: StackConfig) -> TypeIs[BatchStackConfig]:
    """Return whether the architecture of a stack is AWS Batch."""
    return config.architecture.kind == "batch"


def is_network(config: StackConfig) -> TypeIs[NetworkStackConfig]:
    """Return whether a stack is a network stack."""
    return config.architecture.kind == "network"

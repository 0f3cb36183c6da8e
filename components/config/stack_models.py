"""The models of a stack, by architecture; models of other architectures are not imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainyard.components.config.network import PlacedNetwork, StackNetwork
from trainyard.components.config.stack import StackConfig

if TYPE_CHECKING:
    from trainyard.components.config.batch_stack import BatchStackConfig
    from trainyard.components.config.eks_stack import EksStackConfig
    from trainyard.components.config.network_stack import NetworkStackConfig
    from trainyard.components.config.parallelcluster_stack import ParallelClusterStackConfig

    AnyStackConfig = (
        EksStackConfig | ParallelClusterStackConfig | BatchStackConfig | NetworkStackConfig
    )


def given_model(kind: object) -> type[StackConfig]:
    """Return the model that validates a stack file.

    For an unknown kind, it is the model of all architectures, whose error lists the valid kinds.
    """
    models = _models(kind)
    if models is not None:
        return models[0]
    from trainyard.components.config.given_stack import GivenStack

    return GivenStack


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
    models = _models(config.architecture.kind)
    assert models is not None  # noqa: S101 - the kind is validated
    return models[1].model_construct(config.model_fields_set, **fields)


def _models(kind: object) -> tuple[type[StackConfig], type[AnyStackConfig]] | None:
    """Return the models of a stack file and of a checked configuration, by kind."""
    match kind:
        case "eks":
            from trainyard.components.config import eks_stack

            return eks_stack.GivenEksStack, eks_stack.EksStackConfig
        case "parallelcluster":
            from trainyard.components.config import parallelcluster_stack as cluster

            return cluster.GivenParallelClusterStack, cluster.ParallelClusterStackConfig
        case "batch":
            from trainyard.components.config import batch_stack

            return batch_stack.GivenBatchStack, batch_stack.BatchStackConfig
        case "network":
            from trainyard.components.config import network_stack

            return network_stack.GivenNetworkStack, network_stack.NetworkStackConfig
        case _:
            return None

"""The models of a stack file, by the kind of its architecture.

Only those of the stack are imported, so that `check` takes a fraction of a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainyard.components.config.batch import BatchStackConfig
    from trainyard.components.config.eks import EksStackConfig
    from trainyard.components.config.network_stack import NetworkStackConfig
    from trainyard.components.config.parallelcluster import ParallelClusterStackConfig
    from trainyard.components.config.stack import StackConfig

    AnyStackConfig = (
        EksStackConfig | ParallelClusterStackConfig | BatchStackConfig | NetworkStackConfig
    )


def given_model(kind: object) -> type[StackConfig]:
    """Return the model that validates a stack file.

    For an unknown kind, it is the model of all architectures, whose error lists the valid kinds.
    """
    models = models_of(kind)
    if models is not None:
        return models[0]
    from trainyard.components.config.given_stack import GivenStack

    return GivenStack


def models_of(kind: object) -> tuple[type[StackConfig], type[AnyStackConfig]] | None:
    """Return the models of a stack file and of a checked configuration, by kind."""
    match kind:
        case "eks":
            from trainyard.components.config import eks

            return eks.GivenEksStack, eks.EksStackConfig
        case "parallelcluster":
            from trainyard.components.config import parallelcluster as cluster

            return cluster.GivenParallelClusterStack, cluster.ParallelClusterStackConfig
        case "batch":
            from trainyard.components.config import batch

            return batch.GivenBatchStack, batch.BatchStackConfig
        case "network":
            from trainyard.components.config import network_stack

            return network_stack.GivenNetworkStack, network_stack.NetworkStackConfig
        case _:
            return None

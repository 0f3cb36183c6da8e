"""From a plan to its components.

Apart from the plans, which tools read in milliseconds: importing the components takes seconds, and
a stack has one architecture, so only its own is imported.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol

import pulumi

from components.batch.plan import BatchPlan
from components.eks.plan import EksPlan
from components.network.network_stack_plan import NetworkStackPlan
from components.parallelcluster.plan import ParallelClusterPlan


class Architecture(Protocol):
    """A cluster of some kind, or a network, once its resources are registered."""

    def outputs(self) -> dict[str, pulumi.Input[object]]:
        """Return what the stack exports, by name."""
        ...


ARCHITECTURES = {
    EksPlan: ("components.architectures.eks", "EksArchitecture"),
    ParallelClusterPlan: (
        "components.architectures.parallelcluster",
        "ParallelClusterArchitecture",
    ),
    BatchPlan: ("components.architectures.batch", "BatchArchitecture"),
    NetworkStackPlan: ("components.architectures.network", "NetworkArchitecture"),
}
"""Module and name of the component of each architecture, by its plan."""


def build(plan: EksPlan | ParallelClusterPlan | BatchPlan | NetworkStackPlan) -> Architecture:
    """Register the resources of a plan and return the architecture."""
    module, component = ARCHITECTURES[type(plan)]
    architecture: Any = getattr(import_module(module), component)
    return architecture(plan.name, plan)

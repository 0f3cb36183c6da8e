"""From a plan to its components.

Apart from the plans, which tools read in milliseconds: importing the components takes seconds, and
a stack has one architecture, so only its own is imported.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import pulumi

from components.architectures.eks_imports import LATER
from components.batch.plan import BatchPlan
from components.eks.plan import EksPlan
from components.network.network_stack_plan import NetworkStackPlan
from components.parallelcluster.plan import ParallelClusterPlan
from components.resource_tags import tag_every_resource
from components.update_gate import await_update_gate

if TYPE_CHECKING:
    from components.config.stack_models import AnyStackConfig


class Architecture(Protocol):
    """A cluster of some kind, or a network, once its resources are registered."""

    def outputs(self) -> dict[str, pulumi.Input[object]]:
        """Return what the stack exports, by name."""
        ...


_COMPONENTS = {
    "eks": ("components.architectures.eks", "EksArchitecture"),
    "parallelcluster": ("components.architectures.parallelcluster", "ParallelClusterArchitecture"),
    "batch": ("components.architectures.batch", "BatchArchitecture"),
    "network": ("components.architectures.network", "NetworkArchitecture"),
}
"""Module and name of the component of each architecture, by its kind."""
ARCHITECTURES = {
    EksPlan: _COMPONENTS["eks"],
    ParallelClusterPlan: _COMPONENTS["parallelcluster"],
    BatchPlan: _COMPONENTS["batch"],
    NetworkStackPlan: _COMPONENTS["network"],
}
"""The same by its plan."""
_SDK_MODULES = ("pulumi_aws.ec2", "pulumi_aws.iam")
"""What every architecture registers; the SDK reads such a module at the first use of its name."""
_LATER = {"eks": LATER}
"""Modules by the kind of architecture that imports them when it has begun to register."""
_importing: list[threading.Thread] = []
_building = threading.Event()


def import_ahead(config: AnyStackConfig) -> None:
    """Import the components of a stack beside what follows: a look at the account mostly waits."""
    kind = config.architecture.kind
    module, _ = _COMPONENTS[kind]
    modules = (module, *_SDK_MODULES, *_LATER.get(kind, ()))
    thread = threading.Thread(target=contextvars.copy_context().run, args=(_import, modules))
    _importing.append(thread)
    _building.clear()
    thread.start()


def _import(modules: Iterable[str]) -> None:
    # What fails here fails once more where it is needed, and is said there.
    with contextlib.suppress(Exception):
        for name in modules:
            if _building.is_set():
                return
            getattr(import_module(name), "__all__", None)


def build(plan: EksPlan | ParallelClusterPlan | BatchPlan | NetworkStackPlan) -> Architecture:
    """Register the resources of a plan and return the architecture."""
    # Python 3.11 gives a module that loads at its first use to a second thread half loaded:
    # https://github.com/python/cpython/issues/114763
    _building.set()
    while _importing:
        _importing.pop().join()
    module, component = ARCHITECTURES[type(plan)]
    architecture: Any = getattr(import_module(module), component)
    tag_every_resource()
    await_update_gate()
    return architecture(plan.name, plan)

"""Create the components of a plan.

Plans do not import this module: tools load plans in milliseconds, but importing the components
takes seconds. Only the architecture of the stack is imported.
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
    """A cluster or network whose resources are registered."""

    def outputs(self) -> dict[str, pulumi.Input[object]]:
        """Return the stack outputs, by name."""
        ...


_COMPONENTS = {
    "eks": ("components.architectures.eks", "EksArchitecture"),
    "parallelcluster": ("components.architectures.parallelcluster", "ParallelClusterArchitecture"),
    "batch": ("components.architectures.batch", "BatchArchitecture"),
    "network": ("components.architectures.network", "NetworkArchitecture"),
}
"""Module and class name of each architecture, by kind."""
ARCHITECTURES = {
    EksPlan: _COMPONENTS["eks"],
    ParallelClusterPlan: _COMPONENTS["parallelcluster"],
    BatchPlan: _COMPONENTS["batch"],
    NetworkStackPlan: _COMPONENTS["network"],
}
"""The same by plan class."""
_SDK_MODULES = ("pulumi_aws.ec2", "pulumi_aws.iam")
"""SDK modules that every architecture uses; the SDK loads them on first use."""
_LATER = {"eks": LATER}
"""Modules that an architecture imports after it has started to register resources, by kind."""
_importing: list[threading.Thread] = []
_building = threading.Event()


def import_ahead(config: AnyStackConfig) -> None:
    """Import the components of a stack in the background, while AWS calls wait for answers."""
    kind = config.architecture.kind
    module, _ = _COMPONENTS[kind]
    modules = (module, *_SDK_MODULES, *_LATER.get(kind, ()))
    thread = threading.Thread(target=contextvars.copy_context().run, args=(_import, modules))
    _importing.append(thread)
    _building.clear()
    thread.start()


def _import(modules: Iterable[str]) -> None:
    # A failure here occurs again at the actual import, which reports it.
    with contextlib.suppress(Exception):
        for name in modules:
            if _building.is_set():
                return
            getattr(import_module(name), "__all__", None)


def build(plan: EksPlan | ParallelClusterPlan | BatchPlan | NetworkStackPlan) -> Architecture:
    """Register the resources of a plan and return the architecture."""
    # In Python 3.11, a second thread can see a lazily loaded module half loaded:
    # https://github.com/python/cpython/issues/114763
    _building.set()
    while _importing:
        _importing.pop().join()
    module, component = ARCHITECTURES[type(plan)]
    architecture: Any = getattr(import_module(module), component)
    tag_every_resource()
    await_update_gate()
    return architecture(plan.name, plan)

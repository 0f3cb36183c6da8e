"""Create the components of a plan.

Plans do not import this module: tools load plans in milliseconds, but importing the components
takes seconds. Only the architecture of the stack is imported.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pulumi

from trainyard.components.architectures.registry import ARCHITECTURES
from trainyard.components.resource_tags import tag_every_resource
from trainyard.components.update_gate import await_update_gate

if TYPE_CHECKING:
    from trainyard.components.any_plan import AnyPlan
    from trainyard.components.config.load import AnyStackConfig
    from trainyard.components.monitoring.plan import MonitoringPlan


_SDK_MODULES = ("pulumi_aws.ec2", "pulumi_aws.iam")
"""SDK modules that every architecture uses; the SDK loads them on first use."""


class Ahead:
    """Imports modules in the background, until the stack is built."""

    def __init__(self, load: Callable[[str], object] = import_module) -> None:
        self._load = load
        self._threads: list[threading.Thread] = []
        self._building = threading.Event()

    def begin(self, modules: Iterable[str]) -> None:
        """Begin to import modules, one after the other."""
        run = contextvars.copy_context().run
        thread = threading.Thread(target=run, args=(self._import, modules))
        self._threads.append(thread)
        self._building.clear()
        thread.start()

    def end(self) -> None:
        """Import nothing further, and wait for the module that is being imported."""
        self._building.set()
        while self._threads:
            self._threads.pop().join()

    def _import(self, modules: Iterable[str]) -> None:
        # A failure here occurs again at the actual import, which reports it.
        with contextlib.suppress(Exception):
            for name in modules:
                if self._building.is_set():
                    return
                getattr(self._load(name), "__all__", None)


_AHEAD = Ahead()


def import_ahead(config: AnyStackConfig, ahead: Ahead = _AHEAD) -> None:
    """Import the components of a stack in the background, while AWS calls wait for answers."""
    architecture = ARCHITECTURES[config.architecture.kind]
    ahead.begin((architecture.resources, *_SDK_MODULES))


def build(plan: AnyPlan, ahead: Ahead = _AHEAD) -> Mapping[str, pulumi.Input[object]]:
    """Register the resources of a plan and return the stack outputs, by name."""
    # In Python 3.11, a second thread can see a lazily loaded module half loaded:
    # https://github.com/python/cpython/issues/114763
    ahead.end()
    architecture = ARCHITECTURES[plan.kind]
    component: Any = getattr(import_module(architecture.resources), architecture.component)
    tag_every_resource()
    await_update_gate()
    cluster = component(plan.name, plan)
    outputs: dict[str, Any] = cluster.outputs()
    if plan.monitoring_plan is None:
        return outputs
    return {**outputs, "monitoring": _monitor(plan.name, plan.monitoring_plan, cluster)}


def _monitor(name: str, plan: MonitoringPlan, cluster: Any) -> Mapping[str, pulumi.Input[object]]:
    # Most stacks have no dashboard and no alarms, and need not wait for the import.
    from trainyard.components.monitoring.resources import Monitoring, MonitoringArgs

    args = MonitoringArgs(plan=plan, ids=cluster.monitored(), after=[cluster])
    return Monitoring(f"{name}-monitoring", args).outputs()

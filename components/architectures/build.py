"""Create the components of a plan.

Plans do not import this module: tools load plans in milliseconds, but importing the components
takes seconds. Only the architecture of the stack is imported.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pulumi

from components.architectures.registry import ARCHITECTURES
from components.resource_tags import tag_every_resource
from components.update_gate import await_update_gate

if TYPE_CHECKING:
    from components.any_plan import AnyPlan
    from components.config.stack_models import AnyStackConfig
    from components.monitoring.plan import MonitoringPlan


_SDK_MODULES = ("pulumi_aws.ec2", "pulumi_aws.iam")
"""SDK modules that every architecture uses; the SDK loads them on first use."""
_importing: list[threading.Thread] = []
_building = threading.Event()


def import_ahead(config: AnyStackConfig) -> None:
    """Import the components of a stack in the background, while AWS calls wait for answers."""
    architecture = ARCHITECTURES[config.architecture.kind]
    modules = (architecture.resources, *_SDK_MODULES)
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


def build(plan: AnyPlan) -> Mapping[str, pulumi.Input[object]]:
    """Register the resources of a plan and return the stack outputs, by name."""
    # In Python 3.11, a second thread can see a lazily loaded module half loaded:
    # https://github.com/python/cpython/issues/114763
    _building.set()
    while _importing:
        _importing.pop().join()
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
    from components.monitoring.resources import Monitoring, MonitoringArgs

    args = MonitoringArgs(plan=plan, ids=cluster.monitored(), after=[cluster])
    return Monitoring(f"{name}-monitoring", args).outputs()

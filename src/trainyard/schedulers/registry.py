"""The schedulers by the kinds of stacks that have one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from trainyard.cli import failures
from trainyard.schedulers.batch.scheduler import BatchScheduler
from trainyard.schedulers.job_wait import refuse
from trainyard.schedulers.kubernetes.scheduler import KubernetesScheduler
from trainyard.schedulers.scheduler import Scheduler
from trainyard.schedulers.slurm.scheduler import SlurmScheduler
from trainyard.stack_files.stack_config import kind_of
from trainyard.stack_files.stack_files import StackFile
from trainyard.workspace.target import Target

SCHEDULERS: Mapping[str, type[Scheduler[Any]]] = MappingProxyType(
    {"eks": KubernetesScheduler, "parallelcluster": SlurmScheduler, "batch": BatchScheduler}
)
"""By architecture kind."""
EVERY_TEST = tuple(dict.fromkeys(name for each in SCHEDULERS.values() for name in each.tests))
"""Names of the jobs of all schedulers."""


def scheduler_class(stack_file: StackFile) -> type[Scheduler[Any]] | None:
    """Return what the scheduler of a stack can do; None for a network, which has none.

    Raises:
        ConfigError: the file has no architecture kind, or one that does not exist.
    """
    return SCHEDULERS.get(kind_of(stack_file))


def scheduler_of(target: Target, *, network: str = "has no nodes") -> Scheduler[Any]:
    """Return the scheduler of a stack.

    Args:
        target: The stack and its account.
        network: What to say of a network, which has none.

    Raises:
        ConfigError: the file has no architecture kind, or one that does not exist.
        WrongUseError: it is a network.
    """
    found = scheduler_class(target.stack_file)
    if found is None:
        raise failures.WrongUseError(f"{target.stack} is a network, and {network}")
    return found(target)


def own_options(
    given: Mapping[str, Any], own: type[Scheduler[Any]] | None, stack: str
) -> dict[str, Any]:
    """Return the options of one scheduler, and refuse those of the others.

    Args:
        given: Values of the options of all schedulers; None if not given.
        own: The scheduler; None for a network.
        stack: Name of the stack, for messages.

    Raises:
        WrongUseError: an option of another scheduler has a value.
    """
    for each in SCHEDULERS.values():
        if each is not own:
            refuse(_options(given, each), f"{stack} is not a stack of {each.title}")
    return {} if own is None else _options(given, own)


def _options(given: Mapping[str, Any], of: type[Scheduler[Any]]) -> dict[str, Any]:
    return {name: given[name] for name in (*of.pool_options, *of.job_options) if name in given}

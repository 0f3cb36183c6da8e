"""`up --verify`: the verification of all nodes of a stack after its deployment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import typer

from trainyard.cli import failures
from trainyard.commands.cluster.verify import verify_nodes
from trainyard.schedulers.deployed_stack import DeployedStack
from trainyard.schedulers.registry import scheduler_class
from trainyard.schedulers.scheduler import Scheduler, refusals
from trainyard.stack_files.stack_config import plan_of
from trainyard.verify.verification import Wanted


def planned_verification(deployed: DeployedStack) -> Callable[[], None]:
    """Return the verification of all pools of a stack, one after the other, for after the update.

    It raises `typer.Exit` if a pool fails, whose result is printed, and `CommandError` if a test
    did not run.

    Args:
        deployed: The stack.

    Raises:
        ConfigError: the configuration is invalid; the error lists every problem.
        WrongUseError: nothing can be verified there.
    """
    found = deployed.target.stack_file
    if scheduler_class(found) is None:
        plan_of(found)
        raise failures.WrongUseError(_nothing_in(found.stack))
    scheduler = deployed.scheduler()
    pools = scheduler.verifiable_pools()
    if not pools:
        raise failures.WrongUseError(_nothing_in(found.stack))
    for options in pools:
        with refusals():
            planned = scheduler.planned_test(nodes=None, options=options)
        if scheduler.target.is_sandbox:
            scheduler.refuse_without_accelerators(planned.test)
    return partial(_verify_all, scheduler, pools)


def _nothing_in(stack: str) -> str:
    return f"--verify tests accelerators, and {stack} has no nodes with accelerators now; omit it"


def _verify_all(scheduler: Scheduler[Any], pools: Sequence[Mapping[str, str]]) -> None:
    failed = False
    for options in pools:
        try:
            verify_nodes(scheduler, Wanted(), nodes=None, given=options)
        except typer.Exit:
            failed = True
    if failed:
        raise typer.Exit(failures.WORK_FAILED)

"""`up --verify`: the verification of all nodes of a stack after its deployment."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import typer

from trainyard.cli import failures
from trainyard.commands.cluster.verify import planned_of, refuse_without_accelerators, verify_nodes
from trainyard.schedulers.deployed_stack import DeployedStack
from trainyard.stack_files.stack_config import plan_of
from trainyard.verify.planned_nodes import verifiable_pools
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
    plan: Any = plan_of(found)
    pools = verifiable_pools(plan)
    if not pools:
        raise failures.WrongUseError(
            f"--verify tests accelerators, and {found.stack} has no nodes with accelerators now; "
            "omit it"
        )
    for options in pools:
        planned = planned_of(found, nodes=None, given=options)
        if deployed.target.is_sandbox:
            refuse_without_accelerators(found.architecture, planned)
    return partial(_verify_all, deployed, pools)


def _verify_all(deployed: DeployedStack, pools: Sequence[Mapping[str, str]]) -> None:
    failed = False
    for options in pools:
        try:
            verify_nodes(deployed, Wanted(), nodes=None, given=options)
        except typer.Exit:
            failed = True
    if failed:
        raise typer.Exit(failures.WORK_FAILED)
